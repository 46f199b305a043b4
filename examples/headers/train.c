// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// zenith/train.h: a training run as its config says, then how good the result is on one image.
#include <zenith/train.h>

zenith_status train_and_judge(zenith_context *context, const zenith_image *original,
                              const zenith_image *back, double *psnr);

zenith_status train_and_judge(zenith_context *context, const zenith_image *original,
                              const zenith_image *back, double *psnr)
{
    zenith_train_params run;
    zenith_judge *judge = NULL;
    zenith_model *model = NULL;
    zenith_model_params which;
    zenith_quality quality;
    zenith_train_params_init(&run);
    zenith_model_params_init(&which);
    zenith_quality_init(&quality);
    run.config = "run.json";
    run.resume = true;
    which.weights = "run/model.safetensors";
    zenith_status status = zenith_train(context, &run);
    if (status == ZENITH_OK) status = zenith_model_open(context, &which, &model);
    if (status == ZENITH_OK) status = zenith_judge_open(context, NULL, &judge);
    if (status == ZENITH_OK)
        status = zenith_evaluate(context, judge, model, model, original, back, NULL, &quality);
    *psnr = quality.psnr;
    zenith_judge_free(judge);
    zenith_model_free(model);
    return status;
}
