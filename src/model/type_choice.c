// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
#include "src/model/type_choice.h"

#include "src/op/ops.h"

static const zn_calibrated *entry(void *cookie, const zn_node *node)
{
    const zn_type_choice *choice = cookie;
    return zn_calibration_find((zn_calibration *)(uintptr_t)choice->calibration, node->name, false);
}

static bool quantise(void *cookie, const zn_node *node)
{
    const zn_calibrated *found = entry(cookie, node);
    return found && found->int8;
}

static bool floating(void *cookie, const zn_node *node)
{
    const zn_calibrated *found = entry(cookie, node);
    return found && found->floating;
}

static bool range(void *cookie, const zn_node *node, float *largest, bool *positive)
{
    const zn_calibrated *found = entry(cookie, node);
    if (!found) return false;
    *largest = found->largest;
    *positive = found->positive;
    return true;
}

static zn_precision precision(void *cookie, const zn_node *node)
{
    const zn_type_choice *choice = cookie;
    return choice->family->precision(choice->variant, node->name);
}

zn_type_policy zn_type_choice_policy(const zn_type_choice *choice, zn_type type)
{
    zn_type_policy policy = {
        .type = type, .cookie = (void *)(uintptr_t)choice, .convert = zn_convert_as};
    if (choice->family && choice->family->precision) policy.precision = precision;
    if (choice->calibration) {
        policy.quantise = quantise;
        policy.range = range;
        policy.floating = floating;
    }
    return policy;
}
