import type { Email } from '@parley/domain/access';
import { htmlMessages } from '@parley/markdown';
import { type Chat, type ChatChannel, createParley, type Parley, type ParleyOptions } from '@parley/server';
import { FakeMailer, FakePasswordHasher, FixedClock, MemoryBlobStore } from '@parley/testkit';
import { MemoryStorage } from '@parley/testkit/memory';

type Role = NonNullable<Parameters<Parley['users']['upsert']>[0]['role']>;

/** Chat engine in memory without files and network, with a manual clock. */
export interface TestParley extends Parley {
  readonly clock: {
    /** Seconds since 1970. */
    now(): number;
    advance(seconds: number): void;
  };
  /** Sent emails, oldest first. */
  readonly letters: readonly Email[];
  /** Creates an organization with users by external id, and channels to which all of them subscribe. */
  populate(fixture: TestFixture): Promise<TestRealm>;
}

export interface TestFixture {
  /** Default: `test`. */
  readonly realm?: string;
  /** Roles by external id, which is also the name. The first user must be able to create channels. */
  readonly users: Readonly<Record<string, Role>>;
  readonly channels?: readonly string[];
}

export interface TestRealm {
  readonly realm: string;
  /** Returns a user's chat. */
  as(externalId: string): Chat;
  /** Channels by name. */
  readonly channels: ReadonlyMap<string, ChatChannel>;
}

/** Creates a chat engine for tests of an embedding application. Close it after the test. */
export async function createTestParley(options: Partial<ParleyOptions> = {}): Promise<TestParley> {
  const clock = new FixedClock();
  const { uow } = new MemoryStorage(clock, htmlMessages);
  const mailer = new FakeMailer();
  const parley = await createParley({
    url: 'http://localhost',
    secret: 'the secret of tests',
    clock,
    mailer,
    passwordHasher: new FakePasswordHasher(),
    rateLimits: false,
    shedsLoad: false,
    ...options,
    files: new MemoryBlobStore(clock),
    storage: { uow, close: async () => {} },
  } as Parameters<typeof createParley>[0]);
  return {
    ...parley,
    clock: { now: () => clock.now(), advance: (seconds) => clock.advance(seconds) },
    letters: mailer.emails,
    populate: (fixture) => populate(parley, fixture),
  };
}

const PAUSE_MS = 5;

/**
 * Waits for background work, such as an email: calls `look` until it returns a truthy value, and resolves to this
 * value. @throws Error after `timeoutMs`
 */
export async function until<T>(look: () => T | Promise<T>, { timeoutMs = 5000 } = {}): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (performance.now() > deadline) throw new Error(`Nothing was found within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

async function populate(parley: Parley, { realm = 'test', users, channels = [] }: TestFixture): Promise<TestRealm> {
  await parley.realms.ensure({ name: realm });
  const externalIds = Object.keys(users);
  for (const externalId of externalIds) {
    await parley.users.upsert({ realm, externalId, name: externalId, role: users[externalId]! });
  }
  const as = (externalId: string) => parley.as({ realm, externalId });
  const made = new Map<string, ChatChannel>();
  for (const name of channels) {
    made.set(name, await as(externalIds[0]!).channels.create({ name, subscribers: externalIds }));
  }
  return { realm, as, channels: made };
}
