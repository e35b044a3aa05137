/*
 * environment.c: reads the variables and files. The two files have lines "[default]" or "[profile NAME]" (in
 * credentials: "[NAME]") and "key = value". Lines that begin with white space belong to the member before them; the
 * members that are read here have no such lines.
 */
#include "environment.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "text.h"

#define MAX_LINE 8192

static const struct {
    const char *variables[3], *key; /* key of the member in a profile; "": none */
} settings[SETTINGS] = {
    [SETTING_ID] = { { "AWS_ACCESS_KEY_ID" }, "aws_access_key_id" },
    [SETTING_SECRET] = { { "AWS_SECRET_ACCESS_KEY" }, "aws_secret_access_key" },
    [SETTING_TOKEN] = { { "AWS_SESSION_TOKEN" }, "aws_session_token" },
    [SETTING_REGION] = { { "AWS_REGION", "AWS_DEFAULT_REGION" }, "region" },
    [SETTING_ENDPOINT] = { { "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL" }, "endpoint_url" },
    [SETTING_ATTEMPTS] = { { "AWS_MAX_ATTEMPTS" }, "max_attempts" },
    [SETTING_AWS_CERTIFICATES] = { { "AWS_CA_BUNDLE" }, "ca_bundle" },
    [SETTING_ROLE] = { { "AWS_ROLE_ARN" }, "" },
    [SETTING_ROLE_FILE] = { { "AWS_WEB_IDENTITY_TOKEN_FILE" }, "" },
    [SETTING_ROLE_SESSION] = { { "AWS_ROLE_SESSION_NAME" }, "" },
    [SETTING_STS] = { { "AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL" }, "" },
    [SETTING_CONTAINER_PATH] = { { "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI" }, "" },
    [SETTING_CONTAINER_URL] = { { "AWS_CONTAINER_CREDENTIALS_FULL_URI" }, "" },
    [SETTING_CONTAINER_TOKEN] = { { "AWS_CONTAINER_AUTHORIZATION_TOKEN" }, "" },
    [SETTING_CONTAINER_TOKEN_FILE] = { { "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE" }, "" },
    [SETTING_INSTANCE] = { { "AWS_EC2_METADATA_SERVICE_ENDPOINT" }, "" },
    [SETTING_NO_INSTANCE] = { { "AWS_EC2_METADATA_DISABLED" }, "" },
    [SETTING_GOOGLE] = { { "GCE_METADATA_HOST" }, "" },
    [SETTING_AZURE] = { { "AZURE_STORAGE_CONNECTION_STRING" }, "" },
    [SETTING_AZURE_ACCOUNT] = { { "AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_ACCOUNT_NAME" }, "" },
    [SETTING_AZURE_KEY] = { { "AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ACCESS_KEY" }, "" },
    [SETTING_AZURE_SAS] = { { "AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_SAS_KEY" }, "" },
    [SETTING_AZURE_ENDPOINT] = { { "AZURE_STORAGE_ENDPOINT", "AZURE_STORAGE_SERVICE_ENDPOINT" }, "" },
    [SETTING_ENTRA_TENANT] = { { "AZURE_TENANT_ID" }, "" },
    [SETTING_ENTRA_CLIENT] = { { "AZURE_CLIENT_ID" }, "" },
    [SETTING_ENTRA_SECRET] = { { "AZURE_CLIENT_SECRET" }, "" },
    [SETTING_ENTRA_FILE] = { { "AZURE_FEDERATED_TOKEN_FILE" }, "" },
    [SETTING_ENTRA_HOST] = { { "AZURE_AUTHORITY_HOST" }, "" },
    [SETTING_IDENTITY_URL] = { { "IDENTITY_ENDPOINT" }, "" },
    [SETTING_IDENTITY_HEADER] = { { "IDENTITY_HEADER" }, "" },
    [SETTING_IDENTITY_HOST] = { { "AZURE_POD_IDENTITY_AUTHORITY_HOST" }, "" },
    [SETTING_HUB_TOKEN] = { { "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN" }, "" },
    [SETTING_HUB_ENDPOINT] = { { "HF_ENDPOINT" }, "" },
    [SETTING_HUB_OFFLINE] = { { "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE" }, "" },
    [SETTING_LISTED] = { { "LEAT_MAX_LISTED" }, "" },
    [SETTING_CERTIFICATES] = { { "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE" }, "" },
};

/* Members of a profile that name other ways to get keys: `aws configure export-credentials` knows them. They count
 * before keys in its files, as for other tools, except FALL_BACK. */
static const char *const foreign_keys[] = { "sso_session", "sso_start_url", "role_arn", "web_identity_token_file" };
#define FALL_BACK "credential_process"

/* Returns a variable's value, or NULL if it is not set. An empty variable counts as not set, as for other tools. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

static enum leat_status set_value(char **place, const char *value, struct leat_error *err)
{
    if (*place || !value)
        return LEAT_OK;
    return text_join(place, err, value, NULL);
}

static char *trim(char *text)
{
    size_t length;

    text += strspn(text, " \t\r\n");
    length = strlen(text);
    while (length > 0 && strchr(" \t\r\n", text[length - 1]))
        text[--length] = '\0';
    return text;
}

/* Removes white space around a token: a secret that was mounted or read from a file often ends in a line end. A
 * token of nothing but white space counts as not given, as for the Hub's own client. */
static void clean_token(char **token)
{
    char *text = *token ? trim(*token) : NULL;

    if (text && *text) {
        memmove(*token, text, strlen(text) + 1);
    } else {
        text_forget(*token);
        *token = NULL;
    }
}

static enum leat_status read_variables(struct environment *e, struct leat_error *err)
{
    const char *profile = variable("AWS_PROFILE");
    enum leat_status s = set_value(&e->profile, profile ? profile : variable("AWS_DEFAULT_PROFILE"), err);

    for (unsigned i = 0; i < SETTINGS; i++)
        for (unsigned v = 0; v < 3 && settings[i].variables[v] && s == LEAT_OK; v++)
            s = set_value(&e->values[i], variable(settings[i].variables[v]), err);
    e->by_variables = e->values[SETTING_ID] || (e->values[SETTING_ROLE] && e->values[SETTING_ROLE_FILE]);
    if (!e->values[SETTING_ID]) /* forgets what is left of other keys */
        for (unsigned i = SETTING_SECRET; i <= SETTING_TOKEN; i++) {
            text_forget(e->values[i]);
            e->values[i] = NULL;
        }
    clean_token(&e->values[SETTING_HUB_TOKEN]);
    return s;
}

/* ---- Files ------------------------------------------------------------------------------------------------------ */

struct profile_file {
    struct environment *e;
    bool config; /* true for the file whose sections are called "profile NAME" */
    bool inside; /* the profile's section */
    bool keys;   /* true if the keys of this file count, since a file before it had none */
    bool *found; /* the profile */
};

static bool is_section(const struct profile_file *f, const char *name)
{
    const char *profile = f->e->profile ? f->e->profile : "default";

    if (f->config && text_begins(name, "profile "))
        return strcmp(name + strlen("profile ") + strspn(name + strlen("profile "), " "), profile) == 0;
    return strcmp(name, profile) == 0 && (!f->config || strcmp(name, "default") == 0);
}

static enum leat_status take_member(struct profile_file *f, const char *key, const char *value, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (unsigned i = 0; i < SETTINGS && s == LEAT_OK; i++)
        if (*key && strcmp(key, settings[i].key) == 0 && *value && (f->keys || i > SETTING_TOKEN))
            s = set_value(&f->e->values[i], value, err);
    for (unsigned i = 0; i < sizeof foreign_keys / sizeof *foreign_keys && s == LEAT_OK; i++)
        if (strcmp(key, foreign_keys[i]) == 0)
            s = set_value(&f->e->foreign, key, err);
    if (s == LEAT_OK && strcmp(key, FALL_BACK) == 0)
        s = set_value(&f->e->fall_back, key, err);
    return s;
}

static enum leat_status take_line(struct profile_file *f, char *line, struct leat_error *err)
{
    bool nested = *line == ' ' || *line == '\t';
    char *text = trim(line), *end = strrchr(text, ']'), *equals = strchr(text, '=');

    if (*text == '[' && end) {
        *end = '\0';
        f->inside = is_section(f, trim(text + 1));
        *f->found |= f->inside;
        return LEAT_OK;
    }
    if (!f->inside || nested || !equals || *text == '#' || *text == ';')
        return LEAT_OK;
    *equals = '\0';
    return take_member(f, trim(text), trim(equals + 1), err);
}

/* Reads a file. A missing file says nothing. */
static enum leat_status read_file(struct profile_file *f, const char *path, struct leat_error *err)
{
    char line[MAX_LINE], *buffer = NULL;
    enum leat_status s = LEAT_OK;
    FILE *in = fopen(path, "re");

    if (!in && (errno == ENOENT || errno == ENOTDIR))
        return LEAT_OK;
    if (!in)
        return status_set_os(err, errno, path, "cannot open %s", path);
    buffer = malloc(BUFSIZ);
    if (!buffer) {
        s = status_no_memory(err, BUFSIZ);
        goto out;
    }
    (void)setvbuf(in, buffer, _IOFBF, BUFSIZ); /* a buffer of our own can be zeroed */
    while (s == LEAT_OK && fgets(line, sizeof line, in))
        s = take_line(f, line, err);
    if (s == LEAT_OK && ferror(in))
        s = status_set_os(err, errno, path, "cannot read %s", path);
    explicit_bzero(line, sizeof line);
out:
    (void)fclose(in);
    if (buffer)
        explicit_bzero(buffer, BUFSIZ);
    free(buffer);
    return s;
}

static enum leat_status read_files(struct environment *e, struct leat_error *err)
{
    static const struct {
        const char *variable, *path;
    } files[] = { { "AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials" }, { "AWS_CONFIG_FILE", "/.aws/config" } };
    const char *home = variable("HOME");
    enum leat_status s = LEAT_OK;
    bool found = false;

    for (unsigned i = 0; i < 2 && s == LEAT_OK; i++) {
        const char *named = variable(files[i].variable);
        struct profile_file f = {
            .e = e, .config = i == 1, .keys = !e->by_variables && !e->values[SETTING_ID], .found = &found
        };
        char *path;

        if (!named && !home)
            continue;
        s = text_join(&path, err, named ? named : home, named ? "" : files[i].path, NULL);
        if (s != LEAT_OK)
            return s;
        s = read_file(&f, path, err);
        free(path);
    }
    if (s == LEAT_OK && e->profile && !found && !e->by_variables)
        return status_set(err, LEAT_E_NO_FILE,
                          "AWS_PROFILE is %s, and no such profile is in ~/.aws/credentials or "
                          "~/.aws/config",
                          e->profile);
    return s;
}

enum leat_status environment_read(struct environment *e, struct leat_error *err)
{
    enum leat_status s;

    memset(e, 0, sizeof *e);
    s = read_variables(e, err);
    if (s == LEAT_OK)
        s = read_files(e, err);
    if (s == LEAT_OK && !e->values[SETTING_ID] && !e->by_variables)
        s = set_value(&e->foreign, e->fall_back, err);
    return s;
}

/* Reads the token where the Hub's own client looks for it. */
enum leat_status environment_hub_token(char **token, struct leat_error *err)
{
    static const struct {
        const char *variable, *below;
    } places[] = { { "HF_TOKEN_PATH", "" },
                   { "HF_HOME", "/token" },
                   { "XDG_CACHE_HOME", "/huggingface/token" },
                   { "HOME", "/.cache/huggingface/token" } };
    const char *home = variable("HOME"), *place = NULL;
    enum leat_status s = LEAT_OK;
    unsigned i = 0;
    char *path;

    *token = NULL;
    while (i < sizeof places / sizeof *places && !(place = variable(places[i].variable)))
        i++;
    if (!place)
        return LEAT_OK;
    s = place[0] == '~' && (place[1] == '/' || !place[1])
            ? text_join(&path, err, home ? home : "", place + 1, places[i].below, NULL)
            : text_join(&path, err, place, places[i].below, NULL);
    if (s == LEAT_OK && access(path, F_OK) == 0)
        s = text_read(token, path, err);
    free(path);
    clean_token(token);
    return s;
}

const char *environment_certificates(const struct environment *e, bool aws)
{
    const char *own = aws ? e->values[SETTING_AWS_CERTIFICATES] : NULL;

    return own ? own : e->values[SETTING_CERTIFICATES];
}

void environment_free(struct environment *e)
{
    for (unsigned i = 0; i < SETTINGS; i++)
        text_forget(e->values[i]);
    free(e->profile);
    free(e->foreign);
    free(e->fall_back);
    memset(e, 0, sizeof *e);
}
