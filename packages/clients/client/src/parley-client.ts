import { encode } from './encode.js';
import { EventStream, type RegisterParams, type StreamOptions } from './event-stream.js';
import type { Answer, Arguments, CallOptions, Method, PathOf } from './operations.js';
import { type ClientOptions, type Credentials, Transport } from './transport.js';

export interface LogInOptions extends ClientOptions {
  /** Email address. */
  readonly username: string;
  readonly password: string;
}

/** Client of an organization's chat for one user. */
export class ParleyClient {
  private readonly transport: Transport;

  constructor(options: ClientOptions & { readonly credentials: Credentials }) {
    this.transport = new Transport(options, options.credentials);
  }

  /**
   * Logs in with a password, which is exchanged for the account's API key. @throws ParleyError AUTHENTICATION_FAILED,
   * RATE_LIMIT_HIT …
   */
  static async logIn({ username, password, ...options }: LogInOptions): Promise<ParleyClient> {
    const request = encode('POST /fetch_api_key', '/fetch_api_key', { username, password });
    const answer = await new Transport(options, null).call('POST', request, { maxRetries: 0 });
    const { email, api_key } = answer as Answer<'POST', '/fetch_api_key'>;
    return new ParleyClient({ ...options, credentials: { email, apiKey: api_key } });
  }

  /**
   * Starts a cookie session with a password, for pages of the same origin. They stay logged in until `logOut`: `new
   * ParleyClient({ url, credentials: 'session' })`.
   */
  static async startSession({ username, password, ...options }: LogInOptions): Promise<ParleyClient> {
    await new Transport(options, 'session').send('POST', '/accounts/login/', [
      ['username', username],
      ['password', password],
    ]);
    return new ParleyClient({ ...options, credentials: 'session' });
  }

  /**
   * Ends the session. Not needed with API keys, which stay valid until regenerated. Returns the logout URL of the
   * single sign-on service for the browser to open; null without one.
   */
  async endSession(): Promise<string | null> {
    const { log_out_url: url } = await this.transport.send('POST', '/accounts/logout/', []);
    return typeof url === 'string' ? url : null;
  }

  /** Returns URL and headers for a tus client, which resumes interrupted uploads (messages §16.1). */
  resumableUploads(): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }> {
    return this.transport.foreignRequest('/tus');
  }

  get<P extends PathOf<'GET'>>(path: P, ...args: Arguments<'GET', P>): Promise<Answer<'GET', P>> {
    return this.call('GET', path, args);
  }

  post<P extends PathOf<'POST'>>(path: P, ...args: Arguments<'POST', P>): Promise<Answer<'POST', P>> {
    return this.call('POST', path, args);
  }

  put<P extends PathOf<'PUT'>>(path: P, ...args: Arguments<'PUT', P>): Promise<Answer<'PUT', P>> {
    return this.call('PUT', path, args);
  }

  patch<P extends PathOf<'PATCH'>>(path: P, ...args: Arguments<'PATCH', P>): Promise<Answer<'PATCH', P>> {
    return this.call('PATCH', path, args);
  }

  delete<P extends PathOf<'DELETE'>>(path: P, ...args: Arguments<'DELETE', P>): Promise<Answer<'DELETE', P>> {
    return this.call('DELETE', path, args);
  }

  /**
   * Returns a stream of events: first `registered` with the state, then changes to it. `params`: event types and format
   * (events §1).
   */
  events(params: RegisterParams = {}, options: StreamOptions = {}): EventStream {
    return new EventStream(this.transport, params, options);
  }

  private async call<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    [params = {}, options]: readonly [params?: object, options?: CallOptions],
  ): Promise<Answer<M, P>> {
    const request = encode(`${method} ${path}`, path, params as Record<string, unknown>);
    return (await this.transport.call(method, request, options)) as Answer<M, P>;
  }
}
