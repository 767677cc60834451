import { UsageError } from '../kernel/startup-error.js';
import { format } from '../kernel/values.js';
import type { IncomingMail, ListenAddress } from './configuration.js';
import { secretSetting, setting } from './setting.js';
import { COUNT, PATH, parseHost, parseListenAddress, parseMailPattern, parseToken } from './setting-values.js';

const MIB = 1024 * 1024;

/** Settings for incoming email. */
export const MAIL_SETTINGS = {
  mailGatewayPattern: setting(
    'PARLEY_MAIL_GATEWAY_PATTERN',
    'mail-gateway-pattern',
    'PATTERN',
    'email address of channels, such as chat+%s@example.com; default: none',
    format(parseMailPattern),
    null as string | null,
  ),
  mailGatewayToken: secretSetting(
    'PARLEY_MAIL_GATEWAY_TOKEN',
    'token of programs that deliver email to /api/v1/incoming_email; default: none',
    format(parseToken),
    null as string | null,
  ),
  smtpIn: setting(
    'PARLEY_SMTP_IN',
    'smtp-in',
    'ADDRESS:PORT',
    'receives email by SMTP, such as on 0.0.0.0:25; default: off',
    format(parseListenAddress),
    null as ListenAddress | null,
  ),
  smtpInName: setting(
    'PARLEY_SMTP_IN_NAME',
    'smtp-in-name',
    'HOST',
    'host name in the greeting of the mail server; default: the domain of the pattern',
    format(parseHost),
    null as string | null,
  ),
  smtpInCert: setting(
    'PARLEY_SMTP_IN_CERT',
    'smtp-in-cert',
    'FILE',
    'certificate for STARTTLS, in PEM format; default: no STARTTLS',
    PATH,
    null as string | null,
  ),
  smtpInKey: setting(
    'PARLEY_SMTP_IN_KEY',
    'smtp-in-key',
    'FILE',
    'private key of the certificate',
    PATH,
    null as string | null,
  ),
  smtpInConnections: setting(
    'PARLEY_SMTP_IN_CONNECTIONS',
    'smtp-in-connections',
    'N',
    'maximum number of concurrent connections of mail servers',
    COUNT,
    20,
  ),
  maxEmail: setting('PARLEY_MAX_EMAIL', 'max-email', 'MIB', 'maximum size of a received email', COUNT, 25),
};

export type MailSettings = { readonly [Name in keyof typeof MAIL_SETTINGS]: (typeof MAIL_SETTINGS)[Name]['default'] };

export const NO_INCOMING_MAIL: IncomingMail = {
  token: null,
  maxBytes: MAIL_SETTINGS.maxEmail.default * MIB,
  smtp: null,
};

/** Requires an address pattern, and both or neither of certificate and key. @throws UsageError */
export function incomingMailOf(settings: MailSettings): IncomingMail {
  const { mailGatewayPattern: pattern, mailGatewayToken: token, smtpIn, smtpInName, maxEmail } = settings;
  const { smtpInCert: cert, smtpInKey: key, smtpInConnections: connections } = settings;
  if (pattern === null && (token !== null || smtpIn !== null)) {
    throw new UsageError('Receiving email needs PARLEY_MAIL_GATEWAY_PATTERN, such as chat+%s@example.com.');
  }
  if ((cert === null) !== (key === null)) {
    throw new UsageError('STARTTLS needs both PARLEY_SMTP_IN_CERT and PARLEY_SMTP_IN_KEY.');
  }
  const tls = cert !== null && key !== null ? { cert, key } : null;
  const domain = pattern?.slice(pattern.lastIndexOf('@') + 1) ?? '';
  return {
    token,
    maxBytes: maxEmail * MIB,
    smtp: smtpIn && { ...smtpIn, name: smtpInName ?? domain, tls, connections },
  };
}
