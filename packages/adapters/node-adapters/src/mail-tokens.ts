import { type FetchShort, fetchShortBy } from './log-in/log-in-services.js';
import { OutgoingProxy } from './outgoing-proxy.js';

/** Client of an OAuth 2 service that gives access to a mail server (XOAUTH2). */
export interface MailTokenAccount {
  readonly tokenUrl: string;
  readonly clientId: string;
  /** Null for a public client. */
  readonly clientSecret: string | null;
  /** Null to use client credentials. */
  readonly refreshToken: string | null;
  readonly scope: string | null;
}

export interface MailToken {
  readonly accessToken: string;
  /** Milliseconds since the epoch; 0 if the service does not say. */
  readonly endsAtMs: number;
}

/** Margin before the end of a token's validity. */
const MARGIN_SECONDS = 60;
const MAX_REASON = 300;

/** Requests access tokens for a mail server (RFC 6749). */
export class MailTokens {
  /** Services may replace the refresh token with each access token. */
  private refreshToken: string | null;

  private readonly fetchShort: FetchShort;

  constructor(
    private readonly account: MailTokenAccount,
    proxy = new OutgoingProxy(),
  ) {
    this.refreshToken = account.refreshToken;
    this.fetchShort = fetchShortBy(proxy);
  }

  /** @throws Error with the reason of the service, without secrets */
  async request(): Promise<MailToken> {
    const { tokenUrl, clientId, clientSecret, scope } = this.account;
    const body = new URLSearchParams({
      client_id: clientId,
      ...(clientSecret !== null && { client_secret: clientSecret }),
      ...(this.refreshToken === null
        ? { grant_type: 'client_credentials' }
        : { grant_type: 'refresh_token', refresh_token: this.refreshToken }),
      ...(scope !== null && { scope }),
    });
    const response = await this.fetchShort(tokenUrl, { method: 'POST', redirect: 'error', body }).catch(
      (error: Error) => {
        throw new Error(`no access token from ${tokenUrl}: ${reasonOf(error)}`, { cause: error });
      },
    );
    const fields = fieldsOf(await response.text());
    const { access_token: accessToken, expires_in: seconds, refresh_token: next } = fields;
    if (!response.ok || typeof accessToken !== 'string') {
      throw new Error(`no access token from ${tokenUrl}: ${response.status} ${this.withoutSecrets(refusalOf(fields))}`);
    }
    if (typeof next === 'string' && this.refreshToken !== null) this.refreshToken = next;
    const isKnown = Number.isSafeInteger(seconds);
    return { accessToken, endsAtMs: isKnown ? Date.now() + ((seconds as number) - MARGIN_SECONDS) * 1000 : 0 };
  }

  private withoutSecrets(text: string): string {
    const secrets = [this.account.clientSecret, this.account.refreshToken, this.refreshToken];
    return secrets.reduce<string>((rest, secret) => (secret ? rest.replaceAll(secret, '…') : rest), text);
  }
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(text: string): Fields {
  try {
    return Object(JSON.parse(text)) as Fields;
  } catch {
    return {};
  }
}

const refusalOf = ({ error, error_description: description }: Fields): string =>
  [error, description]
    .filter((part) => typeof part === 'string')
    .join(': ')
    .slice(0, MAX_REASON);

/** Returns the reason of a failed connection, which `fetch` hides in the cause. */
function reasonOf({ message, cause }: Error): string {
  return cause instanceof Error ? cause.message : message;
}
