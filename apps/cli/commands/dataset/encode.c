// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith dataset encode IN OUT: pictures to shards of latents.
#include "apps/cli/commands/dataset/work.h"

static int run(const cli_settings *settings)
{
    return cli_dataset_work(settings, false);
}

static const cli_example examples[] = {
    {"zenith dataset encode photos latents -m taesd --size 256x256",
     "a folder of pictures, with their captions (NAME.txt, NAME.json, NAME.cls)"},
    {"zenith dataset encode shards latents -m zenith-sd-fast --size 256x256 --dtype bf16",
     "tar shards, in a type that is the same on every machine"},
    {"zenith dataset encode shards latents -m taesd --size 256x256 --dtype f32 --queue "
     "nats://10.0.0.1:4222",
     "one of many workers, until the queue is empty"},
    {"zenith dataset encode s3://bucket/shards s3://bucket/latents -m taesd --size 256x256",
     "objects of S3; server and keys come from AWS_ENDPOINT_URL_S3, AWS_REGION, "
     "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"},
    {NULL, NULL}};

const cli_command cli_dataset_encode = {
    .name = "dataset encode",
    .arguments = "IN OUT --model NAME [OPTIONS]",
    .summary = "pictures to shards of latents",
    .description =
        "Encodes the pictures of IN: a folder of pictures, a folder of tar shards (WebDataset), or "
        "one tar; either may be s3://BUCKET/PREFIX. Each shard becomes OUT/NAME.tar with KEY.npy "
        "for every picture and the other "
        "members of its sample unchanged, and OUT/NAME.json, written last, which says what became "
        "of every sample. The same command again goes on where it was stopped or killed. Several "
        "processes and machines may work on one OUT at once. Settings that would give other bytes "
        "are refused. The exit code is 1 where samples could not be used. With --queue it is a "
        "worker: SIGTERM lets it end the shard in hand, and DATASET.md in share/doc/zenith has "
        "more.",
    .groups = cli_dataset_work_groups,
    .examples = examples,
    .min_inputs = 2,
    .max_inputs = 2,
    CLI_DATASET_DEFAULTS,
    .run = run,
};
