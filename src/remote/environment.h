/*
 * environment.h: the variables and files of AWS, Azure and the Hugging Face Hub that other tools also read:
 * AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL, ~/.aws/credentials, AZURE_STORAGE_ACCOUNT, AZURE_CLIENT_ID, HF_TOKEN,
 * HF_ENDPOINT, SSL_CERT_FILE, ... The only file here that reads the environment, and one of few in the libraries that
 * do: a key in an option would end in scripts, logs and lists of processes.
 */
#ifndef LEAT_REMOTE_ENVIRONMENT_H
#define LEAT_REMOTE_ENVIRONMENT_H

#include <stdbool.h>

#include "leat.h"

/* The settings, in the order of the table in environment.c. */
enum setting {
    SETTING_ID,
    SETTING_SECRET,
    SETTING_TOKEN,
    SETTING_REGION,
    SETTING_ENDPOINT,
    SETTING_ATTEMPTS,
    SETTING_AWS_CERTIFICATES,
    SETTING_ROLE, /* the first setting of other places of keys (keys.h) */
    SETTING_ROLE_FILE,
    SETTING_ROLE_SESSION,
    SETTING_STS,
    SETTING_CONTAINER_PATH,
    SETTING_CONTAINER_URL,
    SETTING_CONTAINER_TOKEN,
    SETTING_CONTAINER_TOKEN_FILE,
    SETTING_INSTANCE,
    SETTING_NO_INSTANCE,
    SETTING_GOOGLE,
    SETTING_AZURE, /* the first setting of Azure's (azure.h) */
    SETTING_AZURE_ACCOUNT,
    SETTING_AZURE_KEY,
    SETTING_AZURE_SAS,
    SETTING_AZURE_ENDPOINT,
    SETTING_ENTRA_TENANT, /* the first setting of Microsoft Entra ID's (keys.h) */
    SETTING_ENTRA_CLIENT,
    SETTING_ENTRA_SECRET,
    SETTING_ENTRA_FILE,
    SETTING_ENTRA_HOST,
    SETTING_IDENTITY_URL,
    SETTING_IDENTITY_HEADER,
    SETTING_IDENTITY_HOST,
    SETTING_HUB_TOKEN, /* the first setting of the Hub's */
    SETTING_HUB_ENDPOINT,
    SETTING_HUB_OFFLINE,
    SETTING_LISTED,
    SETTING_CERTIFICATES, /* file with the certificates of authorities, in place of the system's */
    SETTINGS
};

struct environment {
    char *values[SETTINGS]; /* NULL: not set */
    char *profile;          /* profile that was asked for by name, else NULL */
    char *foreign;          /* the profile's way of getting keys, if leat does not know it; else NULL */
    char *fall_back;        /* a way of getting keys, unknown to leat, that counts only if there are no keys */
    bool by_variables;      /* true if the keys are from variables, or from a role in variables: these count before
                               the profile */
};

/*
 * Reads the environment. Variables count before files, and id, secret and token come from one place. Returns
 * LEAT_E_NO_FILE if the profile that AWS_PROFILE names is in neither file. Call environment_free() after a failure,
 * too.
 */
enum leat_status environment_read(struct environment *e, struct leat_error *err);

/* Sets *token to the token in the user's file, as `hf auth login` writes it; NULL: there is no such file. */
enum leat_status environment_hub_token(char **token, struct leat_error *err);

/* Returns the file of certificates of authorities, or NULL for the system's. libcurl, unlike its command, reads no
 * variable. */
const char *environment_certificates(const struct environment *e, bool aws);

void environment_free(struct environment *e); /* zeroes what is secret */

#endif
