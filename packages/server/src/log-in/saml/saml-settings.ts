import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isLoopbackName } from '@parley/http';
import { type SamlAccount, samlProviders } from '@parley/node-adapters';
import { areRoles, isDefaultRole, roleMapping } from '../roles.js';
import type { SamlOptions } from './saml-options.js';

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string' && value !== '' && value.length <= 1000;
const isFlag: Check = (value) => typeof value === 'boolean';
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const CHECKS: Readonly<Record<keyof SamlOptions, Check>> = {
  name: (value) => typeof value === 'string' && /^[a-z0-9][a-z0-9-]{0,39}$/.test(value) && value !== 'host',
  entityId: isText,
  entryPoint: isAddress,
  certificate: (value) => typeof value === 'string' && value.length <= 20_000,
  certificateFile: isText,
  signsResponse: isFlag,
  requestKeyFile: isText,
  displayName: isText,
  icon: (value) => isText(value) && URL.canParse(value as string),
  realms: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
  allowedDomains: isTexts,
  trustEmails: isFlag,
  createPeople: isFlag,
  requiredGroups: (value) => isTexts(value) && (value as string[]).length > 0,
  attributes: (value) =>
    isRecord(value) &&
    Object.entries(value).every(
      ([name, each]) => ['id', 'email', 'name', 'role', 'groups', 'picture'].includes(name) && isText(each),
    ),
  roles: areRoles,
  defaultRole: isDefaultRole,
};

/** Identity providers that speak SAML 2.0. */
export const SAML = {
  setting: {
    variable: 'PARLEY_SAML',
    isSecret: true,
    help: 'identity providers for logging in by SAML 2.0, as JSON (docs/log-in.md); default: none',
    parse: parseSaml,
    default: [] as readonly SamlAccount[],
  },
  accountsOf: samlAccounts,
  services: samlProviders,
};

/** Checks the configuration of identity providers. @throws Error that describes what is expected */
export function samlAccounts(options: unknown): readonly SamlAccount[] {
  if (!Array.isArray(options)) throw new Error('a list of identity providers');
  const accounts = options.map(accountOf);
  const twice = accounts.find(({ name }, index) => accounts.findIndex((it) => it.name === name) !== index);
  if (twice) throw new Error(`a list of identity providers with different names; ${twice.name} is used twice`);
  return accounts;
}

/** Parses the setting. @throws Error describing valid values */
export function parseSaml(text: string): readonly SamlAccount[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('JSON such as [{"name": "…", "entityId": "…", "entryPoint": "https://…", "certificateFile": "…"}]');
  }
  return samlAccounts(value);
}

/** URL requirement for error messages. */
const ENCRYPTED = ': an address with https (http only on this machine), as passwords and tokens are sent there';

function accountOf(given: unknown): SamlAccount {
  if (!isRecord(given)) throw new Error('a list of identity providers, each an object');
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(CHECKS, name)) throw new Error(`a list of identity providers; there is no property ${name}`);
    if (!CHECKS[name as keyof SamlOptions](value))
      throw new Error(`a list of identity providers with a valid ${name}${name === 'entryPoint' ? ENCRYPTED : ''}`);
  }
  for (const name of ['name', 'entityId', 'entryPoint']) {
    if (!Object.hasOwn(given, name)) throw new Error(`a list of identity providers, each with ${name}`);
  }
  const options = given as unknown as SamlOptions;
  const { name, entityId, entryPoint, attributes = {}, requiredGroups = [] } = options;
  if (requiredGroups.length > 0 && attributes.groups === undefined) {
    throw new Error('a list of identity providers; requiredGroups needs attributes.groups');
  }
  return {
    name,
    entityId,
    entryPoint,
    certificates: certificatesOf(options),
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
    const certificate = new X509Certificate(text.match(CERTIFICATE)![0]!);
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

/** Plain HTTP is allowed for providers on the same machine, for tests and development. */
function isAddress(value: unknown): boolean {
  if (!isText(value) || !URL.canParse(value as string)) return false;
  const { protocol, hostname } = new URL(value as string);
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackName(hostname));
}
