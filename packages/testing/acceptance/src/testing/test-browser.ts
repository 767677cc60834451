import type { TestReply } from './test-reply.js';
import type { RequestOptions, TestServer, TestUser } from './test-server.js';

/** Browser page: stores cookies and sends the CSRF token with every change. */
export class TestBrowser {
  /** Cookies by name, or by name and path if they have one: `sessionid;/shop`. */
  readonly cookies = new Map<string, string>();

  constructor(
    private readonly server: TestServer,
    private readonly headers: Readonly<Record<string, string>> = { 'User-Agent': 'Mozilla/5.0 (X11)' },
  ) {}

  /** Creates a browser with a log-in session. */
  static async loggedIn(server: TestServer, user: Pick<TestUser, 'email' | 'password'>): Promise<TestBrowser> {
    const browser = new TestBrowser(server);
    const reply = await browser.logIn(user);
    if (reply.status !== 200) throw new Error(`${user.email} cannot log in: ${JSON.stringify(reply.body)}`);
    return browser;
  }

  async logIn({ email, password }: Pick<TestUser, 'email' | 'password'>): Promise<TestReply> {
    await this.request('GET', '/accounts/login/');
    return this.request('POST', '/accounts/login/', { username: email, password });
  }

  logOut(): Promise<TestReply> {
    return this.request('POST', '/accounts/logout/');
  }

  /** Sends a request. `path` is relative to the root. Given headers take precedence. */
  async request(
    method: string,
    path: string,
    params?: RequestOptions['params'],
    more: Pick<RequestOptions, 'headers' | 'realm' | 'body'> = {},
  ): Promise<TestReply> {
    const cookies = this.cookiesFor(path);
    const token = cookies.find(([name]) => name === 'csrftoken')?.[1];
    const reply = await this.server.request(method, `/${path}`, {
      params: params ?? (method === 'GET' || more.body ? undefined : {}),
      ...more,
      headers: {
        ...(cookies.length > 0 && { Cookie: cookies.map((pair) => pair.join('=')).join('; ') }),
        ...(token !== undefined && method !== 'GET' && { 'X-CSRFToken': token }),
        ...this.headers,
        ...more.headers,
      },
    });
    for (const cookie of reply.headers['set-cookie'] ?? []) this.keep(cookie);
    return reply;
  }

  get(path: string, params?: RequestOptions['params']): Promise<TestReply> {
    return this.request('GET', path, params);
  }

  post(path: string, params?: RequestOptions['params']): Promise<TestReply> {
    return this.request('POST', path, params);
  }

  private keep(cookie: string): void {
    const [pair, ...attributes] = cookie.split('; ');
    const [name, value] = pair!.split('=') as [string, string];
    const path = attributes.find((attribute) => attribute.startsWith('Path='))!.slice('Path='.length);
    const key = path === '/' ? name : `${name};${path}`;
    if (attributes.includes('Max-Age=0')) this.cookies.delete(key);
    else this.cookies.set(key, value);
  }

  /** Cookies with longer paths first. */
  private cookiesFor(path: string): readonly (readonly [name: string, value: string])[] {
    return [...this.cookies]
      .map(([key, value]) => {
        const [name = '', of = ''] = key.split(';');
        return { name, of, value };
      })
      .filter(({ of }) => of === '' || path === of || path.startsWith(`${of}/`))
      .sort((a, b) => b.of.length - a.of.length)
      .map(({ name, value }) => [name, value]);
  }
}
