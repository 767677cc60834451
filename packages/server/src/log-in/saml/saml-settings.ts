import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { firstOf } from '@parley/domain/kernel';
import type { ParamType } from '@parley/http';
import { type SamlAccount, samlProviders } from '@parley/node-adapters';
import type { ShapeOf } from '../../kernel/values.js';
import { object, optional, text } from '../../kernel/values.js';
import {
  accountList,
  ENCRYPTED_URL,
  FLAG,
  ICON,
  ROLE_TYPES,
  SERVICE_NAME,
  SOME_TEXTS,
  STRING_IDS,
  TEXT,
  TEXTS,
} from '../account-types.js';
import { roleMapping } from '../roles.js';
import type { SamlOptions } from './saml-options.js';

const OPTIONS: ParamType<SamlOptions> = object({
  name: SERVICE_NAME,
  entityId: TEXT,
  entryPoint: ENCRYPTED_URL,
  certificate: optional(text({ max: 20_000 })),
  certificateFile: optional(TEXT),
  signsResponse: optional(FLAG),
  requestKeyFile: optional(TEXT),
  displayName: optional(TEXT),
  icon: optional(ICON),
  realms: optional(STRING_IDS),
  allowedDomains: optional(TEXTS),
  trustEmails: optional(FLAG),
  createPeople: optional(FLAG),
  requiredGroups: optional(SOME_TEXTS),
  attributes: optional(
    object({
      id: optional(TEXT),
      email: optional(TEXT),
      name: optional(TEXT),
      role: optional(TEXT),
      groups: optional(TEXT),
      picture: optional(TEXT),
    } satisfies ShapeOf<NonNullable<SamlOptions['attributes']>>),
  ),
  ...ROLE_TYPES,
} satisfies ShapeOf<SamlOptions>);

/** Identity providers that speak SAML 2.0. */
export const SAML = {
  setting: {
    variable: 'PARLEY_SAML',
    isSecret: true,
    help: 'identity providers for logging in by SAML 2.0, as JSON (docs/log-in.md); default: none',
    type: accountList(
      'identity providers',
      '[{"name": "…", "entityId": "…", "entryPoint": "https://…", "certificateFile": "…"}]',
      OPTIONS,
      accountOf,
    ),
    default: [] as readonly SamlAccount[],
  },
  services: samlProviders,
};

function accountOf(options: SamlOptions): SamlAccount {
  const { name, entityId, entryPoint, attributes = {}, requiredGroups = [] } = options;
  if (requiredGroups.length > 0 && attributes.groups === undefined) {
    throw new Error('a list of identity providers; requiredGroups needs attributes.groups');
  }
  // Reports errors of the configuration.
  certificatesOf(options);
  return {
    name,
    entityId,
    entryPoint,
    // The file may change while the server runs.
    get certificates() {
      return certificatesOf(options);
    },
    signsResponse: options.signsResponse ?? false,
    requestKey: options.requestKeyFile === undefined ? null : requestKeyIn(options.requestKeyFile),
    displayName: options.displayName ?? name,
    displayIcon: options.icon ?? null,
    realms: options.realms ?? null,
    allowedDomains: options.allowedDomains?.map((domain) => domain.toLowerCase()) ?? null,
    trustsEmails: options.trustEmails ?? false,
    createsPeople: options.createPeople ?? null,
    requiredGroups,
    attributes: {
      id: attributes.id ?? null,
      email: attributes.email ?? null,
      name: attributes.name ?? 'displayName',
      role: attributes.role ?? null,
      groups: attributes.groups ?? null,
      picture: attributes.picture ?? null,
    },
    ...roleMapping(options),
  };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\sA-Za-z\d+/=]+-----END CERTIFICATE-----/g;

/** Reads a private key and its certificate. */
function requestKeyIn(path: string): NonNullable<SamlAccount['requestKey']> {
  try {
    const text = readFileSync(path, 'utf8');
    const key = createPrivateKey(text);
    const certificate = new X509Certificate(firstOf(text.match(CERTIFICATE)!));
    if (!certificate.checkPrivateKey(key)) throw new Error('They do not belong together');
    return { key: key.export({ type: 'pkcs8', format: 'pem' }).toString(), certificate: certificate.toString() };
  } catch {
    throw new Error(
      `a list of identity providers whose requestKeyFile has a private key and its certificate, unlike ${path}`,
    );
  }
}

/** Accepts several certificates, so that providers can rotate them. */
function certificatesOf({ certificate, certificateFile }: SamlOptions): readonly string[] {
  if ((certificate === undefined) === (certificateFile === undefined)) {
    throw new Error('a list of identity providers, each with certificate or certificateFile');
  }
  let text: string;
  try {
    text = certificate ?? readFileSync(certificateFile!, 'utf8');
  } catch {
    throw new Error(`a list of identity providers with a certificateFile that can be read, unlike ${certificateFile}`);
  }
  const found = text.match(CERTIFICATE) ?? [];
  try {
    if (found.length === 0) throw new Error('There is none');
    return found.map((each) => new X509Certificate(each).toString());
  } catch {
    throw new Error('a list of identity providers with certificates in PEM format (-----BEGIN CERTIFICATE-----)');
  }
}
