import { createHash, X509Certificate } from 'node:crypto';
import type { CacheProvider, Profile } from '@node-saml/node-saml';
import { loadOptional } from '@parley/domain/kernel';
import type {
  ExternalIdentity,
  LogInChallenge,
  LogInMethod,
  LogInProvider,
  LogInResponse,
} from '@parley/domain/log-in';
import { type RoleMapping, statedRole } from '@parley/domain/membership';
import { OutgoingProxy } from '../../outgoing-proxy.js';
import { CLOCK_SKEW_SECONDS, type FetchShort, fetchShortBy, refused, requireSameClock } from '../log-in-services.js';
import { isSuccess, requireMeantForUs } from './saml-checks.js';

/** SAML 2.0 identity provider configured by the operator. */
export interface SamlAccount extends RoleMapping {
  /** Unique and stable, since links and linked accounts refer to it: letters, digits and hyphens. */
  readonly name: string;
  /** Entity id of the provider, included in its responses. */
  readonly entityId: string;
  /** Redirect target for browsers. */
  readonly entryPoint: string;
  /** Certificates (PEM), read at each log-in; any of them may sign responses. */
  readonly certificates: readonly string[];
  /** True if whole responses must be signed too; assertions always are. */
  readonly signsResponse: boolean;
  /** Request signing key and certificate (PEM); null for unsigned requests. */
  readonly requestKey: { readonly key: string; readonly certificate: string } | null;
  readonly displayName: string;
  readonly displayIcon: string | null;
  /** String ids of the organizations that may use the provider; null for all. */
  readonly realms: readonly string[] | null;
  /** Lower-case domains of email addresses that may log in; null for all. */
  readonly allowedDomains: readonly string[] | null;
  /** True if email addresses count as verified. */
  readonly trustsEmails: boolean;
  /** True to create accounts without an invitation; null to follow the organization's sign-up setting. */
  readonly createsPeople: boolean | null;
  /** Users need at least one of these values in the groups attribute; empty for no restriction. */
  readonly requiredGroups: readonly string[];
  /** Attribute names. `id` and `email`: null for the subject's name. */
  readonly attributes: {
    readonly id: string | null;
    readonly email: string | null;
    readonly name: string;
    readonly role: string | null;
    /** Attribute for `requiredGroups`; null if there are none. */
    readonly groups: string | null;
    /** Attribute with the URL of a picture; null for no pictures. */
    readonly picture: string | null;
  };
}

type Library = typeof import('@node-saml/node-saml');
/**
 * The library's public functions return only the assertion as parsed. The rest of the response is read by the same
 * parser, because another one could read it differently from the code that verified its signature.
 */
type Xml = Pick<typeof import('@node-saml/node-saml/lib/xml.js'), 'parseXml2JsFromString'>;

const CLOCK_SKEW_MS = CLOCK_SKEW_SECONDS * 1000;
/** Maximum age of an assertion, and so the maximum duration of a log-in. */
const MAX_AGE_MS = 300_000;

/** Creates providers for the accounts. Loads the library only if there are any. @throws MissingLibrary */
export async function samlProviders(
  accounts: readonly SamlAccount[],
  proxy = new OutgoingProxy(),
): Promise<readonly LogInProvider[]> {
  if (accounts.length === 0) return [];
  const library = await loadOptional('@node-saml/node-saml', 'saml', () => import('@node-saml/node-saml'));
  const xml = await loadOptional('@node-saml/node-saml', 'saml', () => import('@node-saml/node-saml/lib/xml.js'));
  return accounts.map((account) => new SamlProvider(account, library, xml, fetchShortBy(proxy)));
}

/**
 * Logs in with an identity provider: redirect binding for requests, POST binding for responses. Rejects unsolicited
 * responses.
 */
class SamlProvider implements LogInProvider {
  readonly method: LogInMethod;

  constructor(
    private readonly account: SamlAccount,
    private readonly library: Library,
    private readonly xml: Xml,
    private readonly fetchShort: FetchShort,
  ) {
    const { name, displayName, displayIcon, realms, trustsEmails, createsPeople } = account;
    const policy = { trustsEmails, ...(createsPeople !== null && { createsPeople }) };
    this.method = { name, kind: 'samlAuthentication', displayName, displayIcon, realms, ...policy };
  }

  begin(challenge: LogInChallenge): Promise<string> {
    return this.service(challenge.callbackUrl, requestId(challenge)).getAuthorizeUrlAsync(
      challenge.state,
      undefined,
      {},
    );
  }

  async identify(challenge: LogInChallenge, { fields }: LogInResponse): Promise<ExternalIdentity> {
    const id = requestId(challenge);
    const response = fields.get('SAMLResponse') ?? '';
    const xml = Buffer.from(response, 'base64').toString('utf8');
    // Rejects documents with type or entity declarations, which SAML never needs.
    if (/<!(?:DOCTYPE|ENTITY)/i.test(xml)) throw refused();
    let profile: Profile | null;
    try {
      ({ profile } = await this.service(challenge.callbackUrl, id).validatePostResponseAsync({
        SAMLResponse: response,
      }));
    } catch (error) {
      // The user declined.
      const { message } = error as Error;
      if (message.startsWith('SAML provider returned')) throw refused();
      if (/^Invalid (?:document )?signature$/.test(message)) throw unknownKey(message, xml, this.account);
      throw error;
    }
    if (!profile?.getAssertion || !profile.getSamlResponseXml) throw refused();
    const { entityId, signsResponse } = this.account;
    const { Response: document } = await this.xml.parseXml2JsFromString(profile.getSamlResponseXml());
    if (!isSuccess(document)) throw refused();
    requireMeantForUs(document, profile.getAssertion().Assertion, {
      requestId: id,
      callbackUrl: challenge.callbackUrl,
      entityId,
      isResponseSigned: signsResponse,
      nowMs: Date.now(),
      clockSkewMs: CLOCK_SKEW_MS,
    });
    return this.identityOf(profile);
  }

  metadata(callbackUrl: string): string {
    return this.service(callbackUrl, '').generateServiceProviderMetadata(
      null,
      this.account.requestKey?.certificate ?? null,
    );
  }

  async check(callbackUrls: readonly string[]): Promise<void> {
    const { certificates, entryPoint, requestKey } = this.account;
    for (const certificate of certificates) requireValid('its certificate', certificate);
    if (requestKey) requireValid('the certificate of requestKeyFile', requestKey.certificate);
    // Browsers omit the log-in cookie when another site posts a form to an unencrypted URL.
    const open = callbackUrls.find((url) => url.startsWith('http:'));
    if (open) throw new Error(`browsers must reach this server by https, unlike ${open}; set PARLEY_URL`);
    const response = await this.fetchShort(entryPoint, { redirect: 'manual' }).catch((cause: Error) => {
      throw new Error(`entryPoint ${entryPoint} cannot be reached from this machine`, { cause });
    });
    requireSameClock(response);
    if (response.status === 404) throw new Error(`entryPoint ${entryPoint} returns 404; copy it from the provider`);
  }

  private service(callbackUrl: string, id: string): InstanceType<Library['SAML']> {
    const { entryPoint, certificates, signsResponse, requestKey } = this.account;
    const issuer = callbackUrl.replace('/accounts/login/complete/', '/accounts/login/metadata/');
    return new this.library.SAML({
      callbackUrl,
      entryPoint,
      issuer,
      audience: issuer,
      idpCert: [...certificates],
      wantAssertionsSigned: true,
      wantAuthnResponseSigned: signsResponse,
      ...(requestKey && { privateKey: requestKey.key }),
      signatureAlgorithm: 'sha256',
      identifierFormat: null,
      disableRequestedAuthnContext: true,
      acceptedClockSkewMs: CLOCK_SKEW_MS,
      maxAssertionAgeMs: MAX_AGE_MS,
      requestIdExpirationPeriodMs: MAX_AGE_MS,
      validateInResponseTo: this.library.ValidateInResponseTo.always,
      generateUniqueId: () => id,
      cacheProvider: onlyRequest(id),
    });
  }

  private identityOf(profile: Profile): ExternalIdentity {
    const { attributes, allowedDomains, requiredGroups } = this.account;
    const email = attributes.email === null ? profile.nameID : textAt(profile, attributes.email);
    const domain = email?.split('@').at(-1)?.toLowerCase() ?? '';
    if (allowedDomains && !allowedDomains.includes(domain)) throw refused();
    const groups: unknown[] = attributes.groups === null ? [] : [profile[attributes.groups]].flat();
    if (requiredGroups.length > 0 && !requiredGroups.some((it) => groups.includes(it))) throw refused();
    if (attributes.id === null && profile.nameIDFormat?.endsWith(':transient')) {
      throw new Error('The provider sends a transient name, which changes with every log-in; set attributes.id');
    }
    return {
      subject: (attributes.id === null ? profile.nameID : textAt(profile, attributes.id)) ?? '',
      email,
      // SAML makes no statement about email addresses.
      emailStatements: [],
      fullName: textAt(profile, attributes.name),
      ...this.roleOf(profile),
      picture: attributes.picture === null ? null : textAt(profile, attributes.picture),
    };
  }

  /** A missing or incomplete attribute does not prove that a user has left a group. */
  private roleOf(profile: Profile): Pick<ExternalIdentity, 'role' | 'problems'> {
    const { attributes, roles } = this.account;
    if (attributes.role === null || roles.size === 0) return { role: null };
    const names = attributeNames(profile.getAssertion!());
    const isCutOff = names.includes(GROUPS_LINK);
    if (names.includes(attributes.role) && !isCutOff) {
      return { role: statedRole([profile[attributes.role]].flat(), this.account) };
    }
    const state = isCutOff ? 'incomplete: the person is in too many groups' : 'missing';
    return { role: null, problems: [`The attribute ${attributes.role} is ${state}. The role is unchanged.`] };
  }
}

const SIGNING_CERTIFICATE = /<(?:\w+:)?X509Certificate>([^<]*)</g;
/** A response is signed once or twice. */
const MAX_NAMED = 4;

const fingerprintOf = (certificate: Buffer): string =>
  createHash('sha256').update(certificate).digest('hex').toUpperCase().match(/../g)!.join(':');

/** Error that compares the certificates in a response with the configured ones, as `openssl x509 -fingerprint` prints them. */
function unknownKey(problem: string, xml: string, { certificates }: SamlAccount): Error {
  const named = [...xml.matchAll(SIGNING_CERTIFICATE)]
    .slice(0, MAX_NAMED)
    .map(([, text]) => Buffer.from(text!, 'base64'));
  const found = [...new Set(named.map(fingerprintOf))].join(', ') || 'no certificate';
  const known = certificates.map((each) => fingerprintOf(new X509Certificate(each).raw)).join(', ');
  return new Error(`${problem}: the response contains ${found}; configured: ${known} (SHA-256 of certificates)`);
}

/** @throws Error if the certificate has expired */
function requireValid(what: string, certificate: string): void {
  const { validTo } = new X509Certificate(certificate);
  if (Date.parse(validTo) < Date.now()) throw new Error(`${what} expired on ${validTo}`);
}

/** Request id; only the browser that holds `state` can answer it. */
const requestId = ({ nonce }: LogInChallenge): string => `_${nonce}`;

/** Cache of a single request id. Not cleared, since the log-in in progress ends with its response. */
const onlyRequest = (id: string): CacheProvider => ({
  saveAsync: async (_, value) => ({ value, createdAt: Date.now() }),
  getAsync: async (key) => (key === id ? new Date().toISOString() : null),
  removeAsync: async (key) => key,
});

/** Attribute that Microsoft Entra sends instead of groups to users in more than 150 groups. */
const GROUPS_LINK = 'http://schemas.microsoft.com/claims/groups.link';

interface Assertion {
  readonly AttributeStatement?: readonly {
    readonly Attribute?: readonly { readonly $: { readonly Name: string } }[];
  }[];
}

/** Returns attribute names including those without a value, which the library's profiles lack. */
const attributeNames = ({ Assertion: assertion }: Record<string, unknown>): readonly string[] =>
  ((assertion as Assertion).AttributeStatement ?? []).flatMap(({ Attribute = [] }) => Attribute.map(({ $ }) => $.Name));

/** Returns the first value of an attribute. */
function textAt(profile: Profile, name: string): string | null {
  const value = Object.hasOwn(profile, name) ? [profile[name]].flat()[0] : undefined;
  return typeof value === 'string' && value !== '' ? value : null;
}
