import { createHash } from 'node:crypto';
import type {
  ExternalIdentity,
  LogInChallenge,
  LogInMethod,
  LogInProvider,
  LogInResponse,
} from '@parley/domain/log-in';
import { OutgoingProxy } from '../../outgoing-proxy.js';
import { type FetchShort, fetchShortBy, refused, rejectsClient, requireSameClock } from '../log-in-services.js';

const CLOUD = 'https://github.com';
/** Profile and email addresses, without access to code. */
const SCOPE = 'read:user user:email';

/**
 * Errors that are not the service's fault: the user declined or has no verified email address, or the code is invalid.
 */
const REFUSALS: readonly string[] = ['access_denied', 'bad_verification_code', 'unverified_user_email'];

type Fields = Readonly<Record<string, unknown>>;

/** GitHub account settings for log-ins. */
export interface GitHubAccount extends Omit<LogInMethod, 'createsPeople'> {
  /** URL without trailing slash. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  /** Lower-case domains of the email addresses that may log in; null for all. */
  readonly allowedDomains: readonly string[] | null;
  /** See `OpenIdConnectAccount`. */
  readonly createsPeople: boolean | null;
  /** Null for no pictures. */
  readonly claims: { readonly picture: string | null };
}

/** Logs in at GitHub, which has OAuth with PKCE instead of OpenID Connect for people. */
export class GitHubProvider implements LogInProvider {
  readonly method: LogInMethod;
  private readonly api: string;

  constructor(
    private readonly account: GitHubAccount,
    private readonly fetchShort: FetchShort = fetchShortBy(new OutgoingProxy()),
  ) {
    const { name, kind, displayName, displayIcon, realms, issuer, createsPeople } = account;
    const policy = createsPeople !== null && { createsPeople };
    this.method = { name, kind, displayName, displayIcon, realms, ...policy };
    // GitHub Enterprise servers have their API below their own URL.
    this.api = issuer === CLOUD ? 'https://api.github.com' : `${issuer}/api/v3`;
  }

  async begin({ state, verifier, callbackUrl }: LogInChallenge): Promise<string> {
    const options = {
      client_id: this.account.clientId,
      redirect_uri: callbackUrl,
      scope: SCOPE,
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    };
    return `${this.account.issuer}/login/oauth/authorize?${new URLSearchParams(options)}`;
  }

  async identify({ verifier, callbackUrl }: LogInChallenge, { url }: LogInResponse): Promise<ExternalIdentity> {
    const { searchParams } = new URL(url);
    const code = searchParams.get('code');
    const error = searchParams.get('error');
    if (error !== null && !REFUSALS.includes(error)) throw new Error(`GitHub reports ${error}`);
    if (code === null) throw refused();
    const token = await this.exchange(code, verifier, callbackUrl);
    const user = (await this.fetch(`${this.api}/user`, token)) as Fields;
    const emails = await this.fetch(`${this.api}/user/emails`, token);
    if (!Number.isSafeInteger(user.id) || !Array.isArray(emails)) throw new TypeError('GitHub sent no account');
    const primary = (emails as Fields[]).find((it) => it?.primary === true && typeof it.email === 'string');
    const email = (primary?.email as string | undefined) ?? null;
    const domain = email?.split('@').at(-1)?.toLowerCase();
    const { allowedDomains, claims } = this.account;
    const picture = claims.picture === null ? null : user[claims.picture];
    if (allowedDomains && !allowedDomains.includes(domain ?? '')) throw refused();
    return {
      subject: String(user.id),
      email,
      emailStatements: email === null ? [] : [{ email, isVerified: primary?.verified === true }],
      fullName: [user.name, user.login].find((it): it is string => typeof it === 'string' && it !== '') ?? null,
      role: null,
      picture: typeof picture === 'string' ? picture : null,
    };
  }

  /** Requests a user without a token, which GitHub rejects with 401, and redeems an invalid code. */
  async check(callbackUrls: readonly string[]): Promise<void> {
    const response = await this.fetchShort(`${this.api}/user`, this.requestOf({}));
    if (response.status !== 401) throw new Error(`${this.api} returns ${response.status} instead of 401; check issuer`);
    requireSameClock(response);
    for (const callbackUrl of callbackUrls) {
      const { error } = await this.redeem('none', 'x'.repeat(43), callbackUrl);
      if (error === 'incorrect_client_credentials') throw rejectsClient();
      if (error === 'redirect_uri_mismatch')
        throw new Error(`it rejects the redirect address ${callbackUrl}; set it as callback of the OAuth app`);
    }
  }

  private async exchange(code: string, verifier: string, callbackUrl: string): Promise<string> {
    const fields = await this.redeem(code, verifier, callbackUrl);
    // GitHub reports wrong and used codes with status 200.
    if (REFUSALS.includes(String(fields.error))) throw refused();
    if (fields.error === 'incorrect_client_credentials') throw rejectsClient();
    if (typeof fields.access_token !== 'string') throw new TypeError(`GitHub sent no token: ${fields.error}`);
    return fields.access_token;
  }

  private async redeem(code: string, verifier: string, callbackUrl: string): Promise<Fields> {
    const { clientId, clientSecret, issuer } = this.account;
    const body = new URLSearchParams({
      client_id: clientId,
      client_secret: clientSecret!,
      code,
      redirect_uri: callbackUrl,
      code_verifier: verifier,
    });
    return this.read(
      await this.fetchShort(`${issuer}/login/oauth/access_token`, { ...this.requestOf({}), method: 'POST', body }),
    );
  }

  private async fetch(url: string, token: string): Promise<unknown> {
    return this.read(await this.fetchShort(url, this.requestOf({ Authorization: `Bearer ${token}` })));
  }

  private async read(response: Response): Promise<Fields> {
    if (!response.ok) throw new Error(`GitHub answered ${response.status}`);
    return (await response.json()) as Fields;
  }

  private requestOf(headers: Readonly<Record<string, string>>): RequestInit {
    return {
      headers: { Accept: 'application/json', 'User-Agent': 'Parley', ...headers },
      redirect: 'error',
    };
  }
}
