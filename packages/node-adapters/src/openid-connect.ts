import type { Role } from '@parley/domain/access';
import { DomainError, loadOptional } from '@parley/domain/kernel';
import type {
  EmailStatement,
  ExternalIdentity,
  LogInChallenge,
  LogInMethod,
  LogInProvider,
  LogInResponse,
  ServiceLogOut,
} from '@parley/domain/membership';
import type { AuthenticationMethod } from '@parley/domain/realms';
import { GitHubProvider } from './github.js';

/** Service that speaks OpenID Connect, as the operator configures it. */
export interface OpenIdConnectAccount {
  /** Unique and stable, since links and linked accounts name it: letters, digits and hyphens. */
  readonly name: string;
  /** Setting by which organizations enable the service. */
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
  /** Lower-case domains of the email addresses that may log in; null for all. */
  readonly allowedDomains: readonly string[] | null;
  /** True if addresses without `email_verified` count as verified, as those of one company's directory. */
  readonly trustsEmails: boolean;
  /** True if people get an account without an invitation; null: as the organization's open sign-up. */
  readonly createsPeople: boolean | null;
  /** Values of the groups claim one of which people must have; empty for none. */
  readonly requiredGroups: readonly string[];
  /** Paths of claims, with dots. */
  readonly claims: {
    readonly email: string;
    readonly name: string;
    readonly role: string | null;
    readonly groups: string | null;
    /** Null for no pictures. */
    readonly picture: string | null;
  };
  /** Roles by value of the role claim, in order of precedence. */
  readonly roles: ReadonlyMap<string, Role>;
  /** Names of groups of the organization by value of the groups claim. */
  readonly groups: ReadonlyMap<string, string>;
  /** True if logging out leads browsers to the service, to log out there too. */
  readonly singleLogOut: boolean;
}

type Library = typeof import('openid-client');
type Configuration = Awaited<ReturnType<Library['discovery']>>;
type Claims = Readonly<Record<string, unknown>>;

/** Time for one request to a service. */
const PATIENCE_SECONDS = 10;
/** Age of a notice that somebody logged out. */
const MAX_NOTICE_SECONDS = 300;
const CLOCK_SKEW_SECONDS = 60;
const LOG_OUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Creates providers for the accounts. The library is loaded only if one needs it. @throws MissingLibrary */
export async function openIdConnectProviders(
  accounts: readonly OpenIdConnectAccount[],
): Promise<readonly LogInProvider[]> {
  const isGitHub = ({ kind }: OpenIdConnectAccount) => kind === 'gitHubAuthentication';
  if (accounts.every(isGitHub)) return accounts.map((account) => new GitHubProvider(account));
  const library = await loadOptional('openid-client', 'openIdConnect', () => import('openid-client'));
  return accounts.map((account) =>
    isGitHub(account) ? new GitHubProvider(account) : new OpenIdConnectProvider(account, library),
  );
}

/** Logs in at an OpenID provider: authorization code flow with PKCE, `state` and `nonce`. */
class OpenIdConnectProvider implements LogInProvider {
  readonly method: LogInMethod;
  private discovered: Promise<Configuration> | null = null;
  private keys: ReturnType<typeof import('jose').createRemoteJWKSet> | null = null;

  constructor(
    private readonly account: OpenIdConnectAccount,
    private readonly library: Library,
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
    const { AuthorizationResponseError, authorizationCodeGrant, fetchUserInfo, ResponseBodyError } = this.library;
    const configuration = await this.configuration();
    try {
      const tokens = await authorizationCodeGrant(configuration, new URL(url), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims()!;
      const { email, role, groups, picture } = this.account.claims;
      const wanted = [email, 'email_verified', role, groups, picture];
      const isComplete = wanted.every((it) => it === null || valueAt(claims, it) !== undefined);
      if (isComplete || !configuration.serverMetadata().userinfo_endpoint) return this.identityOf(claims.sub, [claims]);
      const more = await fetchUserInfo(configuration, tokens.access_token, claims.sub);
      return this.identityOf(claims.sub, [claims, more]);
    } catch (error) {
      // The person declined, or the code is not valid (any more).
      if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) throw refused();
      throw error;
    }
  }

  /** Redeems a code that nobody issued: services verify the client before the code. */
  async check(): Promise<void> {
    const configuration = await this.configuration();
    const { genericGrantRequest, ResponseBodyError, WWWAuthenticateChallengeError } = this.library;
    const nothing = { code: 'none', redirect_uri: this.account.issuer, code_verifier: 'x'.repeat(43) };
    try {
      await genericGrantRequest(configuration, 'authorization_code', nothing);
    } catch (error) {
      if (error instanceof WWWAuthenticateChallengeError) throw rejectsClient();
      if (!(error instanceof ResponseBodyError)) throw error;
      if (REJECTIONS.includes(error.error)) throw rejectsClient();
    }
  }

  async logOutUrl(returnUrl: string): Promise<string | null> {
    if (!this.account.singleLogOut) return null;
    const configuration = await this.configuration();
    if (!configuration.serverMetadata().end_session_endpoint) return null;
    return this.library.buildEndSessionUrl(configuration, { post_logout_redirect_uri: returnUrl }).href;
  }

  /** Verifies a logout token (OpenID Connect Back-Channel Logout), whose sender nobody else vouches for. */
  async readLogOut(token: string): Promise<ServiceLogOut> {
    const { createRemoteJWKSet, errors, jwtVerify } = await import('jose');
    const metadata = (await this.configuration()).serverMetadata();
    this.keys ??= createRemoteJWKSet(new URL(metadata.jwks_uri!), { timeoutDuration: PATIENCE_SECONDS * 1000 });
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
      // A token of a log-in has a nonce.
      if (!isLogOut || nonce !== undefined) throw refused();
      return { subject: sub!, session: typeof sid === 'string' ? sid : null, at: iat! };
    } catch (error) {
      if (error instanceof errors.JOSEError) throw refused();
      throw error;
    }
  }

  /** `documents`: ID token and user information, of which the later one counts. */
  private identityOf(subject: string, documents: readonly Claims[]): ExternalIdentity {
    const claims: Claims = Object.assign({}, ...documents);
    const { claims: names, allowedDomains, requiredGroups } = this.account;
    const email = textAt(claims, names.email);
    const domain = email?.split('@').at(-1)?.toLowerCase();
    if (allowedDomains && !allowedDomains.includes(domain ?? '')) throw refused();
    const groups = names.groups === null ? [] : [valueAt(claims, names.groups)].flat();
    if (requiredGroups.length > 0 && !requiredGroups.some((it) => groups.includes(it))) throw refused();
    return {
      subject,
      email,
      emailStatements: documents.flatMap(statementsIn),
      fullName: textAt(claims, names.name),
      role: this.roleOf(claims),
      picture: names.picture === null ? null : textAt(claims, names.picture),
      serviceSession: textAt(claims, 'sid'),
      groups: this.groupsOf(claims),
    };
  }

  /** Services leave the claim out for people in too many groups, who keep theirs. */
  private groupsOf(claims: Claims): ReadonlyMap<string, boolean> {
    const { claims: names, groups } = this.account;
    const value = names.groups === null ? undefined : valueAt(claims, names.groups);
    const values = [value].flat();
    const places = new Map<string, boolean>();
    if (value === undefined) return places;
    for (const [given, name] of groups) places.set(name, values.includes(given) || places.get(name) === true);
    return places;
  }

  private roleOf(claims: Claims): Role | null {
    const { claims: names, roles } = this.account;
    if (names.role === null) return null;
    const values = [valueAt(claims, names.role)].flat();
    return [...roles].find(([value]) => values.includes(value))?.[1] ?? null;
  }

  /** Reads the metadata of the service once; again after a failure. */
  private configuration(): Promise<Configuration> {
    this.discovered ??= this.discover().catch((error) => {
      this.discovered = null;
      throw error;
    });
    return this.discovered;
  }

  private discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.account;
    const { allowInsecureRequests, discovery, None } = this.library;
    const isInsecure = new URL(issuer).protocol === 'http:';
    return discovery(new URL(issuer), clientId, clientSecret ?? undefined, clientSecret === null ? None() : undefined, {
      timeout: PATIENCE_SECONDS,
      ...(isInsecure && { execute: [allowInsecureRequests] }),
    });
  }
}

/** Errors of services that do not know the client (RFC 6749). */
const REJECTIONS: readonly string[] = ['invalid_client', 'unauthorized_client'];
const rejectsClient = () => new Error('it rejects clientId with its clientSecret');

const refused = () => new DomainError('LOG_IN_REFUSED', 'The service did not confirm who you are.');

/** Reads `email_verified`, which concerns the claim `email` of the same document only. */
function statementsIn(claims: Claims): readonly EmailStatement[] {
  const { email_verified: value } = claims;
  if (value === undefined || value === null) return [];
  return [{ email: textAt(claims, 'email'), isVerified: value === true || value === 'true' }];
}

/** Value of a claim, which may be inside others: `realm_access.roles`. */
function valueAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Claims)[name];
  }
  return value;
}

function textAt(claims: Claims, path: string): string | null {
  const value = valueAt(claims, path);
  return typeof value === 'string' && value !== '' ? value : null;
}
