import { Agent, createServer, type RequestOptions as NodeRequest, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { PasswordHasher, Role, SystemGroupName } from '@parley/domain/access';
import type { Channel } from '@parley/domain/channels';
import type { ExportLimits } from '@parley/domain/exports';
import type { BlobStore, FileLimits, PartialBlobStore } from '@parley/domain/files';
import { type Bus, type GroupId, LocalBus, type RealmId, type UserId } from '@parley/domain/kernel';
import { CreateRealm, type LogInProvider, type PeopleDirectory } from '@parley/domain/log-in';
import { RegisterUser } from '@parley/domain/membership';
import type { Realm } from '@parley/domain/realms';
import type { BotKind, User } from '@parley/domain/users';
import {
  type Logger,
  type ProxyTrust,
  type RateLimitRules,
  type Route,
  silentLogger,
  type TransportLimits,
  type WebAssets,
} from '@parley/http';
import { unicodeEmoji, ZulipMarkdownRenderer } from '@parley/markdown';
import {
  type BigBlueButtonAccount,
  type DirectPush,
  type PushServiceAccount,
  ScryptPasswordHasher,
} from '@parley/node-adapters';
import type { HostAuthenticate } from '@parley/server';
import { type ComposedParley, composeParley, type ParleyDependencies, SeededRandom } from '@parley/server/testing';
import {
  FakeImageProcessor,
  FakeImportRunner,
  FakeMailer,
  FixedClock,
  MemoryBlobStore,
  MemoryPartialBlobStore,
  signJsonWebToken,
} from '@parley/testkit';
import { byFetch } from './by-fetch.js';
import { fieldsOf, type Wire } from './expectations.js';
import { ResponseChecks } from './response-checks.js';
import { sharedByTestFiles } from './shared-by-test-files.js';
import type { TestReply } from './test-reply.js';
import { openTestStorage, type StoredContents, type TestStorage } from './test-storage.js';

export interface TestServerOptions {
  /** Routes in addition to those of the API. */
  readonly moreRoutes?: readonly Route[];
  readonly isDev?: boolean;
  readonly isQuiet?: boolean;
  readonly limitsPresence?: boolean;
  readonly auditNames?: boolean;
  readonly mailGatewayPattern?: string | null;
  readonly incomingMail?: NonNullable<ParleyDependencies['incomingMail']>;
  readonly webhookNetworks?: readonly string[];
  readonly outgoingProxy?: NonNullable<ParleyDependencies['outgoingProxy']>;
  readonly webAssets?: WebAssets;
  readonly webPush?: string;
  readonly hasRateLimits?: boolean;
  readonly trustedProxies?: ProxyTrust;
  readonly rateLimitRules?: RateLimitRules;
  readonly sendsMail?: boolean;
  readonly authenticate?: HostAuthenticate;
  readonly logInProviders?: readonly LogInProvider[];
  readonly directories?: readonly PeopleDirectory[];
  readonly trustedOrigins?: ReadonlySet<string>;
  readonly frameAncestors?: readonly string[];
  readonly realmAddresses?: 'host' | 'path';
  readonly passwordHasher?: PasswordHasher;
  readonly logger?: Logger;
  readonly push?: PushServiceAccount | DirectPush;
  readonly bigBlueButton?: BigBlueButtonAccount;
  readonly giphyApiKey?: string;
  readonly blobs?: BlobStore;
  readonly partialBlobs?: PartialBlobStore;
  /** Default: a processor for fake images. */
  readonly images?: ParleyDependencies['images'];
  readonly fileLimits?: FileLimits;
  readonly searchesFiles?: boolean;
  readonly exportLimits?: Partial<ExportLimits>;
  /** Default: a runner that imports nothing; null if the server imports no uploads. */
  readonly importRunner?: null;
  readonly limits?: Partial<TransportLimits>;
  readonly jwtSecrets?: ReadonlyMap<string, string>;
  readonly jwtAudience?: string;
  /**
   * True to run jobs and maintenance in the background in real time; by default, only the test runs jobs (`runJobs`).
   */
  readonly worksInBackground?: boolean;
  /** Buses to other servers of the database; reliable by default. */
  readonly buses?: { connect(): Bus };
  /** Initial data; by default a user of each role and nothing else. */
  readonly snapshot?: ServerSnapshot;
}

/** Data of an organization from another server; loading the data is faster than creating it. */
export interface ServerSnapshot {
  readonly contents: StoredContents;
  readonly realmId: RealmId;
  readonly people: Readonly<Record<TestPerson, TestUser>>;
  /** Seed for later randomness, so that earlier values do not repeat. */
  readonly seed: number;
}

/** User in a test. */
export interface TestUser {
  readonly id: UserId;
  readonly email: string;
  readonly password: string;
  readonly apiKey: string;
  readonly user: User;
}

export interface RequestOptions {
  /** Null for an anonymous caller. */
  readonly as?: TestUser | null;
  /** Form parameters: strings unchanged, other values as JSON. Sent in the query for GET and HEAD. */
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  /** Raw body instead of a form. */
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** String id of another realm. */
  readonly realm?: string;
}

/** Optional message properties, and further parameters in wire names. */
export interface MessageParams {
  readonly topic?: string | undefined;
  readonly content?: string | undefined;
  readonly [name: string]: unknown;
}

/** Parameters in wire names. */
export interface ChannelParams {
  readonly name: string;
  readonly [name: string]: unknown;
}

const PEOPLE = {
  desdemona: { fullName: 'Desdemona', role: 'owner' },
  iago: { fullName: 'Iago', role: 'administrator' },
  shiva: { fullName: 'शिव', role: 'moderator' },
  hamlet: { fullName: 'King Hamlet', role: 'member' },
  cordelia: { fullName: "Cordelia, Lear's daughter", role: 'member' },
  polonius: { fullName: 'Polonius', role: 'guest' },
} as const satisfies Readonly<Record<string, { fullName: string; role: Role }>>;

export type TestPerson = keyof typeof PEOPLE;

/** Secret for tokens of the first realm. */
export const JWT_SECRET = 'what a test shares with another service';

/** Returns a token signed by a service that shares the secret. */
export const webTokenOf = (claims: object): string => signJsonWebToken(claims, JWT_SECRET);

/** Weak and fast; password hashing is tested separately. */
const quickHasher = new ScryptPasswordHasher({ ln: 1, p: 1 });

/** Default initial data, read once per test file. */
let initialSnapshot: Promise<ServerSnapshot> | undefined;

/** Servers left open by a failing test would keep Jest from ending. */
const openServers = new Set<TestServer>();
afterAll(async () => {
  for (const server of [...openServers].reverse()) await server.close();
});

/**
 * Complete application behind a real port, on SQLite or PostgreSQL depending on the Jest project. Contains the realm
 * `zulip` at the root address with a user of each role, unless a snapshot is given. The clock stands still until
 * advanced. Call `close` after the test.
 */
export class TestServer {
  /** Sent emails. */
  readonly mailer: FakeMailer;
  readonly importRunner: FakeImportRunner;
  readonly people = {} as Record<TestPerson, TestUser>;
  realmId!: RealmId;
  private readonly agent = new Agent({ keepAlive: true });
  private readonly responses: ResponseChecks;
  private newOrganizations = 0;

  private constructor(
    readonly parts: ParleyDependencies,
    readonly parley: ComposedParley,
    readonly storage: TestStorage,
    readonly clock: FixedClock,
    private readonly server: Server,
    readonly url: string,
    private readonly seed: number,
    readonly worksInBackground: boolean,
    private readonly buses: { connect(): Bus },
  ) {
    this.mailer = parts.mailer as FakeMailer;
    this.importRunner = parts.importRunner as FakeImportRunner;
    this.responses = new ResponseChecks(parley.routes);
    openServers.add(this);
  }

  static async start({ snapshot, ...options }: TestServerOptions = {}): Promise<TestServer> {
    initialSnapshot ??= TestServer.readInitialSnapshot();
    const { contents, seed, realmId, people } = snapshot ?? (await initialSnapshot);
    const started = await TestServer.open(options, contents, seed);
    started.realmId = realmId;
    Object.assign(started.people, people);
    return started;
  }

  /** Starts a server without an organization. */
  static startEmpty(options: Omit<TestServerOptions, 'snapshot'> = {}): Promise<TestServer> {
    return TestServer.open(options, undefined, 7);
  }

  /** The first test file of a Jest worker creates the data for the others. */
  private static async readInitialSnapshot(): Promise<ServerSnapshot> {
    const { values } = sharedByTestFiles;
    if (!values.has('snapshot')) {
      const { contents, ...others } = await TestServer.makeInitialSnapshot();
      values.set('contents', contents).set('snapshot', JSON.stringify(others));
    }
    return { contents: values.get('contents') as StoredContents, ...JSON.parse(values.get('snapshot') as string) };
  }

  private static async makeInitialSnapshot(): Promise<ServerSnapshot> {
    const server = await TestServer.open({}, undefined, 7);
    server.realmId = await server.addRealm('zulip');
    await server.addPeople();
    return server.closeAsSnapshot();
  }

  /** Adds a user of each role. */
  private async addPeople(): Promise<void> {
    for (const [name, person] of Object.entries(PEOPLE) as [TestPerson, (typeof PEOPLE)[TestPerson]][]) {
      this.people[name] = await this.addUser({ email: `${name}@zulip.com`, ...person });
    }
  }

  private static async open(
    { worksInBackground = false, buses = new LocalBus(), ...options }: Omit<TestServerOptions, 'snapshot'>,
    contents: StoredContents | undefined,
    seed: number,
  ): Promise<TestServer> {
    const clock = new FixedClock();
    const storage = await openTestStorage(clock, contents);
    const { blobs = new MemoryBlobStore(clock) } = options;
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://localhost:${(server.address() as AddressInfo).port}`;
    const parts: ParleyDependencies = {
      unitOfWork: storage.uow,
      bus: buses.connect(),
      clock,
      randomness: new SeededRandom(seed),
      passwordHasher: quickHasher,
      markdownRenderer: new ZulipMarkdownRenderer(),
      mailer: new FakeMailer(),
      unicodeEmoji,
      logger: silentLogger,
      secret: 'the secret of a test server',
      jwtSecrets: new Map([['zulip', JWT_SECRET]]),
      onOtherSecret: 'rehash',
      url,
      defaultRealm: 'zulip',
      allowsWebPublicChannels: true,
      mailGatewayPattern: 'mail+%s@example.com',
      hasRateLimits: false,
      trustedProxies: 0,
      isDev: true,
      push: null,
      blobs,
      partialBlobs: new MemoryPartialBlobStore(blobs, clock),
      images: new FakeImageProcessor(),
      importRunner: new FakeImportRunner(),
      ...options,
      release: () => storage.close(),
    };
    const parley = await composeParley(parts);
    if (!worksInBackground) await Promise.all(parley.workers.map((worker) => worker.stop()));
    server.on('request', process.env.PARLEY_FETCH ? byFetch(parley) : parley.handler);
    return new TestServer(parts, parley, storage, clock, server, url, seed, worksInBackground, buses);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /**
   * Returns this server with a new organization in place of the first one, for one test; the server closes by itself. String
   * ids of all organizations get a number, also those of `addRealm` and of requests. Ids do not start at 1.
   */
  async withNewOrganization(): Promise<TestServer> {
    const number = ++this.newOrganizations;
    const realmId = await this.addRealm(`zulip${number}`);
    const view: TestServer = Object.create(this, {
      realmId: { value: realmId },
      people: { value: {} },
      url: { value: `http://zulip${number}.localhost:${this.port}` },
      addRealm: { value: (stringId: string) => this.addRealm(`${stringId}${number}`) },
      request: {
        value: (method: string, path: string, { realm = 'zulip', ...options }: RequestOptions = {}) =>
          this.request(method, path, { ...options, realm: `${realm}${number}` }),
      },
    });
    await view.addPeople();
    return view;
  }

  /** Starts another server on the same database, connected by the bus. It closes before this server. */
  async startAnother(options: Pick<TestServerOptions, 'isQuiet'> = {}): Promise<TestServer> {
    const { clock, seed, url, worksInBackground, buses } = this;
    const storage = await this.storage.openAgain();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const parts: ParleyDependencies = {
      ...this.parts,
      ...options,
      unitOfWork: storage.uow,
      bus: buses.connect(),
      randomness: new SeededRandom(seed + 1000),
      markdownRenderer: new ZulipMarkdownRenderer(),
      release: () => storage.close(),
    };
    const parley = await composeParley(parts);
    if (!worksInBackground) await Promise.all(parley.workers.map((worker) => worker.stop()));
    server.on('request', process.env.PARLEY_FETCH ? byFetch(parley) : parley.handler);
    const another = new TestServer(parts, parley, storage, clock, server, url, seed, worksInBackground, buses);
    another.realmId = this.realmId;
    Object.assign(another.people, this.people);
    return another;
  }

  /** Reads commits of other servers, as a running server does every second. */
  catchUp(): Promise<void> {
    return this.parley.part('follower').catchUp();
  }

  /** Stores positions and removes expired queues, as a running server does every minute. */
  sweepQueues(): Promise<void> {
    return this.parley.part('queueSweep').run();
  }

  /** Removes all queues from memory, as a running server does with those that nobody polls. */
  sleepQueues(): void {
    const hub = this.parley.part('hub');
    for (const live of hub.liveQueues) hub.deactivateQueue(live);
  }

  async addRealm(stringId: string): Promise<RealmId> {
    const realm = await this.parley.useCase(CreateRealm).execute({ stringId, name: `Realm ${stringId}` });
    return realm.id;
  }

  /** Adds a user with the password `pw-` plus the email; in the first realm by default. */
  async addUser(person: { email: string; fullName: string; role?: Role; realmId?: RealmId }): Promise<TestUser> {
    const { email, fullName, role = 'member', realmId = this.realmId } = person;
    const password = `pw-${email}`;
    const newcomer = { realmId, email, fullName, role, password, allowsWeakPassword: true };
    const user = await this.parley.useCase(RegisterUser).execute(newcomer);
    return this.signedIn(user, password);
  }

  /** Adds a bot such as `helper-bot@zulip.com`, a member with the full name `helper`. */
  async addBot(owner: TestUser, name: string, kind: BotKind = 'generic'): Promise<TestUser> {
    const { realmId } = owner.user;
    const bot = { kind, ownerId: owner.id, isSystem: false, defaultSendingChannelId: null };
    const email = `${name}-bot@zulip.com`;
    const person = { realmId, email, fullName: name, role: 'member', password: null, bot } as const;
    return this.signedIn(await this.parley.useCase(RegisterUser).execute(person), '');
  }

  /** Creates a channel over HTTP, by Desdemona by default, and returns its id. `params` use wire names. */
  async createChannel(
    name: string,
    subscribers: readonly TestUser[] = [],
    params: object = {},
    as = this.people.desdemona,
  ): Promise<number> {
    const fields = { name, subscribers: subscribers.map(({ id }) => id), ...params };
    return fieldsOf(await this.post('/channels/create', as, fields)).id;
  }

  systemGroups(): Promise<Readonly<Record<SystemGroupName, GroupId>>> {
    return this.storage.uow.read(this.realmId, ({ groups }) => groups.systemGroupIds(this.realmId));
  }

  /** Changes the realm directly, without the rules and events of the API. */
  async changeRealm(
    changes: Partial<Omit<Realm, 'settings' | 'permissions'>> & {
      readonly settings?: Partial<Realm['settings']>;
      readonly permissions?: Partial<Realm['permissions']>;
    },
  ): Promise<void> {
    await this.storage.uow.write(this.realmId, async (tx) => {
      const realm = await tx.realms.get(this.realmId);
      const settings = { ...realm.settings, ...changes.settings };
      const permissions = { ...realm.permissions, ...changes.permissions };
      await tx.realms.update({ ...realm, ...changes, settings, permissions });
    });
  }

  /** Changes a user directly, as the test knows it. */
  async changeUser({ user }: TestUser, changes: Partial<User>): Promise<void> {
    await this.storage.uow.write(user.realmId, (tx) => tx.users.update({ ...user, ...changes }));
  }

  /** Changes a channel directly by name or id. */
  async changeChannel(nameOrId: string | number, changes: Partial<Channel>): Promise<void> {
    await this.storage.uow.write(this.realmId, async (tx) => {
      const all = await tx.channels.listAll(this.realmId);
      const channel = all.find(({ id, name }) => id === nameOrId || name === nameOrId);
      await tx.channels.update({ ...channel!, ...changes });
    });
  }

  /** Limits guests over HTTP to users with whom they share a conversation (users §1.4). */
  async limitGuests(): Promise<void> {
    const { members } = await this.systemGroups();
    fieldsOf(await this.patch('/realm', this.people.desdemona, { can_access_all_users_group: { new: members } }));
  }

  /** Sends a message over HTTP to a channel by name or id, or to users; returns the message id. */
  async sendMessage(
    as: TestUser,
    to: string | number | readonly TestUser[],
    { topic = 'plans', content = 'hello', ...params }: MessageParams = {},
  ): Promise<number> {
    const destination =
      typeof to === 'object' ? { type: 'direct', to: to.map(({ id }) => id) } : { type: 'channel', to, topic };
    return fieldsOf(await this.post('/messages', as, { ...destination, content, ...params })).id;
  }

  /** Returns the newest messages over HTTP, oldest first. */
  async messagesFor(as: TestUser, params: { readonly num_before: number; readonly [name: string]: unknown }) {
    const page = { anchor: 'newest', num_after: 0, ...params };
    return fieldsOf(await this.get('/messages', as, page)).messages as Wire[];
  }

  /** Returns the user's flags of a message. */
  async flagsOf(id: number, as: TestUser): Promise<string[]> {
    const { message } = fieldsOf(await this.get(`/messages/${id}`, as)) as Record<string, { flags: string[] }>;
    return message!.flags;
  }

  /** Returns the key of the link with this id, as an email or a page has it. */
  async linkKey(kind: 'invitation' | 'confirmation' | 'unsubscribe', id: number): Promise<string> {
    const { invitationKeys, confirmationKeys, unsubscribeKeys } = this.parley.ports;
    return this.storage.uow.read(this.realmId, async ({ invitations, confirmations, users }) => {
      if (kind === 'invitation') return invitationKeys.derive((await invitations.find(this.realmId, id))!);
      if (kind === 'confirmation') return confirmationKeys.derive((await confirmations.find(this.realmId, id))!);
      return unsubscribeKeys.derive({ id, seed: await users.findSeed(this.realmId, id as UserId) });
    });
  }

  private async signedIn(user: User, password: string): Promise<TestUser> {
    const record = await this.storage.uow.read(user.realmId, ({ apiKeys }) => apiKeys.find(user.realmId, user.id));
    return { id: user.id, email: user.email, password, apiKey: this.parley.ports.apiKeyMint.derive(record!), user };
  }

  /**
   * Sends a request. `path` is relative to `/api/v1`, or to the root with two leading slashes.
   * @throws Error if a successful response does not exactly match its route's schema
   */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<TestReply> {
    const { as = null, params, body, headers, realm } = options;
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(params ?? {})) {
      form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
    }
    const url = path.startsWith('//') ? path.slice(1) : `/api/v1${path}`;
    const isInQuery = method === 'GET' || method === 'HEAD';
    const query = isInQuery && form.size > 0 ? `${url.includes('?') ? '&' : '?'}${form}` : '';
    const isForm = !isInQuery && body === undefined && params !== undefined;
    const content = isForm ? form.toString() : body;
    const { port } = new URL(this.url);
    const reply = await exchange(
      {
        agent: this.agent,
        host: '127.0.0.1',
        port: this.port,
        method,
        path: url + query,
        headers: {
          Host: realm === undefined ? `localhost:${port}` : `${realm}.localhost:${port}`,
          ...(as && { Authorization: basic(as) }),
          ...(isForm && { 'Content-Type': 'application/x-www-form-urlencoded' }),
          // Node sends no Content-Length for the body of a DELETE request.
          ...(content !== undefined && { 'Content-Length': Buffer.byteLength(content) }),
          ...headers,
        },
      },
      content,
    );
    const problem = this.responses.problemWith(methodOf(method, params), url.split('?')[0]!, reply);
    if (problem !== null) throw new Error(problem);
    return reply;
  }

  get(path: string, as: TestUser | null, params?: RequestOptions['params']): Promise<TestReply> {
    return this.request('GET', path, { as, params });
  }

  post(path: string, as: TestUser | null, params?: RequestOptions['params']): Promise<TestReply> {
    return this.request('POST', path, { as, params: params ?? {} });
  }

  patch(path: string, as: TestUser | null, params?: RequestOptions['params']): Promise<TestReply> {
    return this.request('PATCH', path, { as, params: params ?? {} });
  }

  delete(path: string, as: TestUser | null, params?: RequestOptions['params']): Promise<TestReply> {
    return this.request('DELETE', path, { as, params });
  }

  /** Returns a snapshot for other servers; times are relative to the start of its clock. */
  async closeAsSnapshot(): Promise<ServerSnapshot> {
    const contents = this.storage.keepContents();
    await this.close();
    const { realmId, people, seed } = this;
    return { contents: await contents, realmId, people, seed: seed + 1 };
  }

  async close(): Promise<void> {
    openServers.delete(this);
    const closed = new Promise<void>((resolve) => {
      this.server.close(() => resolve());
    });
    await this.parley.close();
    await closed;
  }
}

/**
 * Returns a function that creates an organization on one server for all tests of a file. Starting a server and preparing
 * its statements takes most of the time of a short test.
 */
export function sharedServer(options: TestServerOptions = {}): () => Promise<TestServer> {
  let server: Promise<TestServer> | undefined;
  return async () => {
    server ??= TestServer.start(options);
    return (await server).withNewOrganization();
  };
}

/** Acts as the first server and sends each request to the server that `next` returns. */
export const dealtTo = (first: TestServer, next: () => TestServer): TestServer =>
  Object.create(first, {
    request: { value: (...request: Parameters<TestServer['request']>) => next().request(...request) },
  }) as TestServer;

/** Method of the request, which a form field may override. */
const methodOf = (method: string, params: RequestOptions['params']): string =>
  typeof params?.method === 'string' ? params.method.toUpperCase() : method;

export const basic = ({ email, apiKey }: Pick<TestUser, 'email' | 'apiKey'>): string =>
  `Basic ${Buffer.from(`${email}:${apiKey}`).toString('base64')}`;

function exchange(options: NodeRequest, body: string | Buffer | undefined): Promise<TestReply> {
  return new Promise((resolve, reject) => {
    const sent = request(options, async (response) => {
      const content = await text(response);
      const isJson = response.headers['content-type']?.startsWith('application/json') ?? false;
      resolve({
        status: response.statusCode!,
        headers: response.headers,
        body: content === '' ? null : isJson ? JSON.parse(content) : content,
      });
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // The server of a busy machine may close the idle connection before the request arrives.
      if (sent.reusedSocket && error.code === 'ECONNRESET') exchange(options, body).then(resolve, reject);
      else reject(error);
    });
    sent.end(body);
  });
}
