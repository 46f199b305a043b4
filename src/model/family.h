// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// What a model family is: one file in src/model and one line in models.list. The file has a table
// of variants and a table of parts (an encoder, a denoiser, a text model ..), says which variants a
// set of weights can be, and builds each part out of nn blocks. It maps the names of each
// checkpoint layout once, here; everything above knows only this descriptor.
#ifndef ZN_MODEL_FAMILY_H
#define ZN_MODEL_FAMILY_H

#include "src/format/tensor/weights.h"
#include "src/graph/passes.h"
#include "src/model/ports.h"
#include "src/model/settings.h"
#include "src/model/stored_parameter.h"
#include "src/nn/scope.h"

// How a variant computes in 8 bits.
typedef enum zn_int8 {
    ZN_INT8_NONE = 0,
    ZN_INT8_CALIBRATED, // with ranges from a calibration
    ZN_INT8_DYNAMIC     // with a scale for each token, found as it is read
} zn_int8;

typedef struct zn_variant {
    const char *name;        // "taesd"
    const char *description; // one line
    zn_int8 int8;
    const struct zn_autoencoder_facts *autoencoder; // autoencoder.h; NULL: it is none
    const void *numbers;                            // the family's own
} zn_variant;

enum { ZN_MOST_PARTS = 16 }; // of a family

typedef struct zn_part {
    const char *name; // "encoder": in the names of files (NAME_encoder.safetensors) and metadata
    const char
        *prefix; // "encoder.": what the names of its parameters and values begin with; may be ""
    zn_sizes smallest; // that it takes; others are multiples of them

    // Its inputs and outputs for these sizes. layout: as of a scope. One that makes no sense gives
    // the usual ports, and `build` refuses it.
    void (*ports)(const zn_variant *variant, const char *layout, const zn_sizes *sizes,
                  zn_ports *out);

    // The network: outputs[i] for each port, from inputs in the order of ports. Straight code: the
    // graph keeps the first failure. Called through zn_part_build.
    void (*build)(const zn_scope *scope, const zn_variant *variant, const zn_sizes *sizes,
                  zn_node *const *inputs, zn_node **outputs);
} zn_part;

// How well a matrix bears rounding, so how many bits a mixed recipe gives it.
typedef enum zn_care {
    ZN_CARE_WHOLE = 0, // none: it stays in floating numbers
    ZN_CARE_MORE,      // 8 bits
    ZN_CARE_LESS       // 4 bits
} zn_care;

typedef struct zn_weight_class {
    zn_care care;
    const char *name; // for reports: "attention"
} zn_weight_class;

// What it takes to write weights of a family as a folder of their own, in few bits ('zenith
// convert').
typedef struct zn_writing {
    const char *file;          // without its ending: "model"
    const char *config;        // JSON of config.json's members that are no settings
    const zn_setting *numbers; // the other members
    int numbers_count;
    // Of the parameter that `build` calls `name`. layout: as of a scope.
    zn_weight_class (*classify)(const char *layout, const char *name);
} zn_writing;

// Another model that one works with.
typedef struct zn_companion {
    char name[64];   // of the variant; "": there is none
    char sha256[65]; // that its weights must have; "": any
} zn_companion;

typedef struct zn_family {
    const char *name;
    const zn_variant *variants;
    int variants_count;
    const zn_part *parts;
    int parts_count;

    // Of a variational autoencoder: its encoder with another output, "moments": the mean and after
    // it the logarithm of the variance, twice the channels of a latent. It has the encoder's name
    // and parameters and is none of the parts. NULL: the family has none.
    const zn_part *moments;

    // Which variants these weights can be (bit per variant; 0: not of this family) and which parts
    // are there (bit per part). Looks at names and shapes only.
    unsigned (*probe)(const zn_weights *weights, unsigned *parts);

    // Where these weights have the parameter that `build` calls `name`, into dst, which is zeroed;
    // false where it has the same name. NULL: all have.
    bool (*rename)(const zn_weights *weights, const char *name, zn_stored_name *dst);

    // How a part of these weights is arranged (scope.h) where their metadata does not say, into
    // dst. NULL: the usual way.
    void (*layout)(const zn_weights *weights, const zn_part *part, char dst[ZN_LAYOUT_SIZE]);

    // How precisely the value of a node of `build` must be kept in bf16, so that the whole stays
    // inside the published bound. NULL: no more than bf16.
    zn_precision (*precision)(const zn_variant *variant, const char *name);

    // Of families whose parameters are for one size: which, from the weights. NULL: for any.
    zn_sizes (*sizes)(const zn_weights *weights);

    // Which model these weights need beside them; it is opened with them. NULL: none ever.
    zenith_status (*companion)(const zn_weights *weights, zn_companion *out, zn_error *err);

    const zn_writing *writing; // NULL: its weights are not written in few bits
} zn_family;

// All of them, in the order of models.list; NULL after the last.
extern const zn_family *const zn_families[];

const zn_part *zn_family_part(const zn_family *family, const char *name); // NULL: it has none such

// Adds the part to a graph. Inputs and outputs must have the shapes that `ports` says; a NULL among
// the inputs, after a failure, is passed on. `scope` has the prefix of names before the part's own.
void zn_part_build(const zn_part *part, const zn_scope *scope, const zn_variant *variant,
                   const zn_sizes *sizes, zn_node *const *inputs, zn_node **outputs);

#endif
