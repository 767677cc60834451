import { isParsableUrl } from '@parley/domain/kernel';
import { isLoopbackName } from '@parley/http';
import type { MailTokenAccount } from '@parley/node-adapters';
import { UsageError } from '../kernel/startup-error.js';
import { described, format, text, unconverted } from '../kernel/values.js';
import { type Setting, secretSetting, setting } from './setting.js';
import { parseUrl } from './setting-values.js';

const MAX_LENGTH = 10_000;
const CREDENTIAL = unconverted(
  described(text({ max: MAX_LENGTH, pattern: /^[\x21-\x7e]+$/ }), 'printable ASCII characters without blanks'),
);
const SCOPE = unconverted(
  described(text({ max: 1000, pattern: /^[\x21-\x7e]+( [\x21-\x7e]+)*$/ }), 'scopes, separated by one blank'),
);

/** Parses the address of a token endpoint. Secrets are sent there, so TLS is required except on loopback. */
function parseTokenUrl(url: string): string {
  const expected = 'an address with https (http only on this machine), such as https://oauth2.googleapis.com/token';
  if (!isParsableUrl(url)) throw new Error(expected);
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:' && !isLoopbackName(hostname)) throw new Error(expected);
  return parseUrl(url);
}

/** Settings for logging in to the mail server by OAuth 2 instead of a password. */
export const SMTP_OAUTH_SETTINGS = {
  smtpOAuthTokenUrl: setting(
    'PARLEY_SMTP_OAUTH_TOKEN_URL',
    'smtp-oauth-token-url',
    'URL',
    'token endpoint of the OAuth 2 service for tokens that replace the password of the mail server (docs/operating.md); default: none',
    format(parseTokenUrl),
    null as string | null,
  ),
  smtpOAuthClientId: setting(
    'PARLEY_SMTP_OAUTH_CLIENT_ID',
    'smtp-oauth-client-id',
    'ID',
    'id of Parley at this service',
    CREDENTIAL,
    null as string | null,
  ),
  smtpOAuthClientSecret: secretSetting(
    'PARLEY_SMTP_OAUTH_CLIENT_SECRET',
    'secret of Parley at this service',
    CREDENTIAL,
    null as string | null,
  ),
  smtpOAuthRefreshToken: secretSetting(
    'PARLEY_SMTP_OAUTH_REFRESH_TOKEN',
    'refresh token of the mailbox; default: client credentials',
    CREDENTIAL,
    null as string | null,
  ),
  smtpOAuthScope: setting(
    'PARLEY_SMTP_OAUTH_SCOPE',
    'smtp-oauth-scope',
    'SCOPE',
    'scope of the tokens, such as https://outlook.office365.com/.default; default: none',
    SCOPE,
    null as string | null,
  ),
} satisfies Record<string, Setting<unknown>>;

export type SmtpOAuthSettings = {
  readonly [Name in keyof typeof SMTP_OAUTH_SETTINGS]: (typeof SMTP_OAUTH_SETTINGS)[Name]['default'];
};

/** Requires an endpoint, a client, one of its credentials and a mailbox without a password. @throws UsageError */
export function smtpOAuthOf(settings: SmtpOAuthSettings, smtpUrl: string | null): MailTokenAccount | null {
  const { smtpOAuthTokenUrl: tokenUrl, smtpOAuthClientId: clientId, smtpOAuthScope: scope } = settings;
  const { smtpOAuthClientSecret: clientSecret, smtpOAuthRefreshToken: refreshToken } = settings;
  if (Object.values(settings).every((value) => value === null)) return null;
  if (tokenUrl === null || clientId === null || (clientSecret === null && refreshToken === null)) {
    throw new UsageError(
      'OAuth 2 for email (smtpOAuth) needs PARLEY_SMTP_OAUTH_TOKEN_URL, PARLEY_SMTP_OAUTH_CLIENT_ID, and PARLEY_SMTP_OAUTH_CLIENT_SECRET or PARLEY_SMTP_OAUTH_REFRESH_TOKEN.',
    );
  }
  const { username = '', password = '' } = smtpUrl === null ? {} : new URL(smtpUrl);
  if (username === '' || password !== '') {
    throw new UsageError(
      'OAuth 2 for email (smtpOAuth) needs PARLEY_SMTP_URL (smtpUrl) with the mailbox and without a password, such as smtp://chat%40example.com@smtp.gmail.com:587.',
    );
  }
  return { tokenUrl, clientId, clientSecret, refreshToken, scope };
}
