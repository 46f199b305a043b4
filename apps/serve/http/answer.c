// SPDX-FileCopyrightText: 2026 The Zenith authors
// SPDX-License-Identifier: Apache-2.0
//
// See answer.h.
#include "apps/serve/http/answer.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

void serve_answer_text(serve_answer *answer, const char *content_type, char *text)
{
    answer->code = text != NULL ? 200 : 500;
    answer->content_type = content_type;
    answer->data = text;
    answer->size = text != NULL ? strlen(text) : 0;
}

void serve_answer_failure(serve_answer *answer, const serve_failure *failure, bool plain)
{
    json_t *object = plain ? json_pack("{s:s, s:s, s:i}", "error", failure->text, "type",
                                       failure->type, "code", failure->code)
                           : json_pack("{s:{s:s, s:i, s:s}}", "error", "type", failure->type,
                                       "code", failure->code, "message", failure->text);
    char *body = object != NULL ? json_dumps(object, 0) : NULL;
    json_decref(object);
    serve_answer_free(answer);
    serve_answer_text(answer, "application/json", body);
    answer->code = failure->code;
}

const void *serve_answer_body(const serve_answer *answer, size_t *size)
{
    if (answer->data == NULL && answer->bytes != NULL) return zenith_bytes_get(answer->bytes, size);
    *size = answer->size;
    return answer->data;
}

void serve_answer_free(serve_answer *answer)
{
    if (!answer->borrowed) {
        free(answer->data);
        zenith_bytes_free(answer->bytes);
    }
    const int retry_after = answer->retry_after;
    *answer = (serve_answer){.retry_after = retry_after};
}
