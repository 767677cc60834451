import { isParsableUrl, loadOptional } from '@parley/domain/kernel';
import type {
  EmailStatement,
  ExternalIdentity,
  LogInChallenge,
  LogInMethod,
  LogInProvider,
  LogInResponse,
  ServiceLogOut,
} from '@parley/domain/log-in';
import { type RoleMapping, statedRole } from '@parley/domain/membership';
import type { AuthenticationMethod } from '@parley/domain/realms';
import { OutgoingProxy } from '../../outgoing-proxy.js';
import {
  CLOCK_SKEW_SECONDS,
  type FetchShort,
  fetchShortBy,
  refused,
  rejectsClient,
  requireSameClock,
} from '../log-in-services.js';
import { GitHubProvider } from './github.js';

/** OpenID Connect service configured by the operator. */
export interface OpenIdConnectAccount extends RoleMapping {
  /** Unique and stable, since links and linked accounts refer to it: letters, digits and hyphens. */
  readonly name: string;
  /** Authentication method by which organizations enable the service. */
  readonly kind: Extract<
    AuthenticationMethod,
    | 'openIdConnectAuthentication'
    | 'googleAuthentication'
    | 'gitHubAuthentication'
    | 'gitLabAuthentication'
    | 'appleAuthentication'
  >;
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a public client. */
  readonly clientSecret: string | null;
  readonly displayName: string;
  readonly displayIcon: string | null;
  readonly scope: string;
  /** String ids of the organizations that may use the service; null for all. */
  readonly realms: readonly string[] | null;
  /** Lower-case domains of email addresses that may log in; null for all. */
  readonly allowedDomains: readonly string[] | null;
  /** True if addresses without `email_verified` count as verified, as in a company directory. */
  readonly trustsEmails: boolean;
  /** True to create accounts without an invitation; null to follow the organization's sign-up setting. */
  readonly createsPeople: boolean | null;
  /** Users need at least one of these values in the groups claim; empty for no restriction. */
  readonly requiredGroups: readonly string[];
  /** Claim paths, with dots for nesting. */
  readonly claims: {
    readonly email: string;
    readonly name: string;
    readonly role: string | null;
    readonly groups: string | null;
    /** Null for no pictures. */
    readonly picture: string | null;
  };
  /** User group names by value of the groups claim. */
  readonly groups: ReadonlyMap<string, string>;
  /** True to also log out at the service, by redirecting browsers there. */
  readonly singleLogOut: boolean;
}

type Library = typeof import('openid-client');
type Configuration = Awaited<ReturnType<Library['discovery']>>;
type Claims = Readonly<Record<string, unknown>>;

/** Timeout for one request to a service. */
const PATIENCE_SECONDS = 10;
/** Maximum age of a logout token. */
const MAX_NOTICE_SECONDS = 300;
const LOG_OUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Creates providers for the accounts. Loads the library only if one needs it. @throws MissingLibrary */
export async function openIdConnectProviders(
  accounts: readonly OpenIdConnectAccount[],
  proxy = new OutgoingProxy(),
): Promise<readonly LogInProvider[]> {
  const fetchShort = fetchShortBy(proxy);
  const isGitHub = ({ kind }: OpenIdConnectAccount) => kind === 'gitHubAuthentication';
  if (accounts.every(isGitHub)) return accounts.map((account) => new GitHubProvider(account, fetchShort));
  const library = await loadOptional('openid-client', 'openIdConnect', () => import('openid-client'));
  return accounts.map((account) =>
    isGitHub(account)
      ? new GitHubProvider(account, fetchShort)
      : new OpenIdConnectProvider(account, library, fetchShort),
  );
}

/** Logs in with an OpenID provider: authorization code flow with PKCE, `state` and `nonce`. */
class OpenIdConnectProvider implements LogInProvider {
  readonly method: LogInMethod;
  private discovered: Promise<Configuration> | null = null;
  private keys: ReturnType<typeof import('jose').createRemoteJWKSet> | null = null;

  constructor(
    private readonly account: OpenIdConnectAccount,
    private readonly library: Library,
    private readonly fetchShort: FetchShort,
  ) {
    const { name, kind, displayName, displayIcon, realms, trustsEmails, createsPeople } = account;
    const policy = { trustsEmails, ...(createsPeople !== null && { createsPeople }) };
    this.method = { name, kind, displayName, displayIcon, realms, ...policy };
  }

  async begin({ state, nonce, verifier, callbackUrl }: LogInChallenge): Promise<string> {
    const configuration = await this.configuration();
    const url = this.library.buildAuthorizationUrl(configuration, {
      redirect_uri: callbackUrl,
      scope: this.account.scope,
      state,
      nonce,
      code_challenge: await this.library.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return url.href;
  }

  async identify({ state, nonce, verifier }: LogInChallenge, { url }: LogInResponse): Promise<ExternalIdentity> {
    const { authorizationCodeGrant, fetchUserInfo } = this.library;
    const configuration = await this.configuration();
    const grant = authorizationCodeGrant(configuration, new URL(url), {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const tokens = await grant.catch((error) => {
      throw this.problemOf(error);
    });
    const claims = tokens.claims()!;
    const { email, role, groups, picture } = this.account.claims;
    const wanted = [email, 'email_verified', role, groups, picture];
    const isComplete = wanted.every((it) => it === null || valueAt(claims, it) !== undefined);
    if (isComplete || !configuration.serverMetadata().userinfo_endpoint) return this.identityOf(claims.sub, [claims]);
    const more = await fetchUserInfo(configuration, tokens.access_token, claims.sub);
    return this.identityOf(claims.sub, [claims, more]);
  }

  async check(callbackUrls: readonly string[]): Promise<void> {
    await this.requireMetadata();
    const configuration = await this.configuration();
    await this.requireClient(configuration);
    for (const callbackUrl of callbackUrls) await this.requireRedirect(configuration, callbackUrl);
  }

  async logOutUrl(returnUrl: string): Promise<string | null> {
    if (!this.account.singleLogOut) return null;
    const configuration = await this.configuration();
    if (!configuration.serverMetadata().end_session_endpoint) return null;
    return this.library.buildEndSessionUrl(configuration, { post_logout_redirect_uri: returnUrl }).href;
  }

  /** Verifies a logout token (OpenID Connect Back-Channel Logout), since its sender is not authenticated. */
  async readLogOut(token: string): Promise<ServiceLogOut> {
    const { createRemoteJWKSet, customFetch, errors, jwtVerify } = await import('jose');
    const metadata = (await this.configuration()).serverMetadata();
    this.keys ??= createRemoteJWKSet(new URL(metadata.jwks_uri!), {
      timeoutDuration: PATIENCE_SECONDS * 1000,
      [customFetch]: this.fetchShort,
    });
    try {
      const { payload } = await jwtVerify(token, this.keys, {
        issuer: metadata.issuer,
        audience: this.account.clientId,
        maxTokenAge: MAX_NOTICE_SECONDS,
        clockTolerance: CLOCK_SKEW_SECONDS,
        requiredClaims: ['sub', 'iat', 'jti', 'events'],
      });
      const { sub, sid, iat, events, nonce } = payload;
      const isLogOut = typeof events === 'object' && events !== null && Object.hasOwn(events, LOG_OUT_EVENT);
      // A nonce marks a log-in token.
      if (!isLogOut || nonce !== undefined) throw refused();
      return { subject: sub!, session: typeof sid === 'string' ? sid : null, at: iat! };
    } catch (error) {
      if (error instanceof errors.JOSEError) throw refused();
      throw error;
    }
  }

  /** `documents`: ID token and user info; later ones take precedence. */
  private identityOf(subject: string, documents: readonly Claims[]): ExternalIdentity {
    const claims: Claims = Object.assign({}, ...documents);
    const { claims: names, allowedDomains, requiredGroups } = this.account;
    const email = textAt(claims, names.email);
    const domain = email?.split('@').at(-1)?.toLowerCase();
    if (allowedDomains && !allowedDomains.includes(domain ?? '')) throw refused();
    const groups = names.groups === null ? [] : [valueAt(claims, names.groups)].flat();
    if (requiredGroups.length > 0 && !requiredGroups.some((it) => groups.includes(it))) throw refused();
    const problems = new Set<string>();
    return {
      subject,
      email,
      emailStatements: documents.flatMap(statementsIn),
      fullName: textAt(claims, names.name),
      role: this.roleOf(claims, problems),
      picture: names.picture === null ? null : textAt(claims, names.picture),
      serviceSession: textAt(claims, 'sid'),
      groups: this.groupsOf(claims, problems),
      problems: [...problems],
    };
  }

  private groupsOf(claims: Claims, problems: Set<string>): ReadonlyMap<string, boolean> {
    const { claims: names, groups } = this.account;
    const places = new Map<string, boolean>();
    const values = names.groups === null || groups.size === 0 ? null : listAt(claims, names.groups, problems);
    if (values === null) return places;
    for (const [given, name] of groups) places.set(name, values.includes(given) || places.get(name) === true);
    return places;
  }

  private roleOf(claims: Claims, problems: Set<string>): ExternalIdentity['role'] {
    const { claims: names, roles } = this.account;
    const values = names.role === null || roles.size === 0 ? null : listAt(claims, names.role, problems);
    return values && statedRole(values, this.account);
  }

  /** Returns a refusal if the user declined or the code is invalid, else a failure with the service's message. */
  private problemOf(error: unknown): unknown {
    const { AuthorizationResponseError, ResponseBodyError, WWWAuthenticateChallengeError } = this.library;
    if (error instanceof WWWAuthenticateChallengeError) return rejectsClient();
    if (!(error instanceof AuthorizationResponseError || error instanceof ResponseBodyError)) return error;
    const { error: code, error_description: detail } = error;
    if (REFUSALS.includes(code)) return refused();
    if (REJECTIONS.includes(code)) {
      const rejection = rejectsClient(detail);
      // Anybody can open the return address with this error.
      return error instanceof AuthorizationResponseError ? new Error(rejection.message) : rejection;
    }
    return new Error(`the service reports ${code}${detail ? `: ${detail}` : ''}`, { cause: error });
  }

  /** Explains a wrong issuer better than the library does. */
  private async requireMetadata(): Promise<void> {
    const { issuer } = this.account;
    if (issuer.includes(WELL_KNOWN)) return;
    const address = `${issuer.replace(/\/+$/, '')}${WELL_KNOWN}openid-configuration`;
    const response = await this.fetchShort(address, { redirect: 'manual' });
    requireSameClock(response);
    const advice = 'issuer must be the issuer URL of the service';
    if (!response.ok) throw new Error(`${address} returns ${response.status}; ${advice}`);
    const metadata: unknown = await response.json().catch(() => null);
    const named = (metadata as { readonly issuer?: unknown } | null)?.issuer;
    if (typeof named !== 'string') throw new Error(`${address} has no metadata; ${advice}`);
    // Entra's issuer contains a placeholder for the tenant.
    const isSame = isParsableUrl(named) && new URL(named).href === new URL(issuer).href;
    if (!isSame && !named.includes('{'))
      throw new Error(`the service reports the issuer ${named}; set issuer to this value`);
  }

  /** Redeems an invalid code: services verify the client before the code. */
  private async requireClient(configuration: Configuration): Promise<void> {
    const { genericGrantRequest } = this.library;
    const nothing = { code: 'none', redirect_uri: this.account.issuer, code_verifier: 'x'.repeat(43) };
    try {
      await genericGrantRequest(configuration, 'authorization_code', nothing);
    } catch (error) {
      if (error instanceof this.library.ResponseBodyError && !REJECTIONS.includes(error.error)) return;
      throw this.problemOf(error);
    }
  }

  /** Requests authorization without a user. Services report the resulting error only to registered redirect URLs. */
  private async requireRedirect(configuration: Configuration, callbackUrl: string): Promise<void> {
    const { buildAuthorizationUrl, calculatePKCECodeChallenge } = this.library;
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: callbackUrl,
      scope: this.account.scope,
      prompt: 'none',
      state: 'x'.repeat(43),
      nonce: 'x'.repeat(43),
      code_challenge: await calculatePKCECodeChallenge('x'.repeat(43)),
      code_challenge_method: 'S256',
    });
    const { status, headers } = await this.fetchShort(url, { redirect: 'manual' });
    if (status >= 400)
      throw new Error(`it rejects the redirect address ${callbackUrl} with ${status}; register it at the service`);
    const location = headers.get('location');
    if (!location?.startsWith(`${callbackUrl}?`)) return;
    const { searchParams } = new URL(location);
    const code = searchParams.get('error');
    if (code !== null && !REFUSALS.includes(code))
      throw new Error(`the service reports ${code}: ${searchParams.get('error_description')}`);
  }

  /** Returns the service's cached metadata; a failure is not cached. */
  private configuration(): Promise<Configuration> {
    this.discovered ??= this.discover().catch((error) => {
      this.discovered = null;
      throw error;
    });
    return this.discovered;
  }

  private discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.account;
    const { allowInsecureRequests, customFetch, discovery, enableNonRepudiationChecks, None } = this.library;
    const isInsecure = new URL(issuer).protocol === 'http:';
    return discovery(new URL(issuer), clientId, clientSecret ?? undefined, clientSecret === null ? None() : undefined, {
      timeout: PATIENCE_SECONDS,
      [customFetch]: this.fetchShort,
      // Verifies the signatures of ID tokens.
      execute: [enableNonRepudiationChecks, ...(isInsecure ? [allowInsecureRequests] : [])],
    });
  }
}

/** Errors of services that do not know the client (RFC 6749). */
const REJECTIONS: readonly string[] = ['invalid_client', 'unauthorized_client'];
/** Errors that are not the service's fault: the user declined or is not logged in, or the code is invalid. */
const REFUSALS: readonly string[] = [
  'access_denied',
  'account_selection_required',
  'consent_required',
  'interaction_required',
  'invalid_grant',
  'login_required',
];
const WELL_KNOWN = '/.well-known/';

/** Reads `email_verified`, which only applies to the `email` claim of the same document. */
function statementsIn(claims: Claims): readonly EmailStatement[] {
  const { email_verified: value } = claims;
  if (value === undefined || value === null) return [];
  return [{ email: textAt(claims, 'email'), isVerified: value === true || value === 'true' }];
}

/** Returns the value of a claim, which may be nested: `realm_access.roles`. */
function valueAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Claims)[name];
  }
  return value;
}

/**
 * Returns null and records a problem for a missing or incomplete list, which does not prove that a user has left a
 * group.
 */
function listAt(claims: Claims, path: string, problems: Set<string>): readonly unknown[] | null {
  const value = valueAt(claims, path);
  const isList = typeof value === 'string' || Array.isArray(value);
  const state = isCutOff(claims, path) ? 'incomplete: the person is in too many groups' : isList ? null : 'missing';
  if (state === null) return [value].flat();
  problems.add(`The claim ${path} is ${state}. Roles and groups that depend on it are unchanged.`);
  return null;
}

/** True if the claim is incomplete and refers to another source, as in Microsoft Entra. */
function isCutOff({ _claim_names: elsewhere, hasgroups }: Claims, path: string): boolean {
  const [name] = path.split('.') as [string];
  if (name === 'groups' && (hasgroups === true || hasgroups === 'true')) return true;
  return typeof elsewhere === 'object' && elsewhere !== null && [name, path].some((it) => Object.hasOwn(elsewhere, it));
}

function textAt(claims: Claims, path: string): string | null {
  const value = valueAt(claims, path);
  return typeof value === 'string' && value !== '' ? value : null;
}
