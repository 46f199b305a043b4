// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith/dataset.h: a folder of images becomes tar shards of latents; the same call again resumes.
#include <zenith/dataset.h>

static int keep_share_done(void *cookie, const zenith_dataset_report *report)
{
    double *share = (double *)cookie;
    *share = report->shards ? (double)report->shards_done / (double)report->shards : 0;
    return 0; // any other number cancels the call
}

zenith_status folder_to_latents(zenith_context *context, zenith_model *model, double *share_done);

zenith_status folder_to_latents(zenith_context *context, zenith_model *model, double *share_done)
{
    zenith_source_params images;
    zenith_dataset_params params;
    zenith_dataset_info info;
    zenith_source_params_init(&images);
    zenith_dataset_params_init(&params);
    zenith_dataset_info_init(&info);
    images.fit = ZENITH_FIT_RESIZE;
    images.width = images.height = 512;
    params.input = "photos";
    params.output = "latents";
    params.source = &images;
    params.report = keep_share_done;
    params.report_cookie = share_done;
    return zenith_dataset_encode(context, model, &params, &info);
}
