import { sharedServer, TestServer, type TestServerOptions } from './test-server.js';

interface ServerOfTests {
  /** Server of the current test. */
  readonly server: TestServer;
  /** Users of the server. */
  readonly people: TestServer['people'];
}

/**
 * Starts a server before all tests of the file or of the `describe` block, and closes it after them. A function may first start
 * other services.
 */
export const serverPerSuite = (options: TestServerOptions | (() => Promise<TestServerOptions>) = {}): ServerOfTests =>
  withPeople(
    beforeAll,
    async () => TestServer.start(typeof options === 'function' ? await options() : options),
    afterAll,
  );

/** Starts a server before each test, and closes it after the test. */
export const serverPerTest = (options: TestServerOptions = {}): ServerOfTests =>
  withPeople(beforeEach, () => TestServer.start(options), afterEach);

/** Creates an organization before each test, all of them on one server. */
export const organizationPerTest = (options: TestServerOptions = {}): ServerOfTests =>
  withPeople(beforeEach, sharedServer(options));

export type Hook = (step: () => unknown) => void;

function withPeople(before: Hook, start: () => Promise<TestServer>, after?: Hook): ServerOfTests {
  const server = startedBefore(before, start, after);
  const people = {} as TestServer['people'];
  before(() => void Object.assign(people, server.people));
  return { server, people };
}

/** Returns an object that stands for the last started one. */
export function startedBefore<T extends { close(): Promise<void> }>(
  before: Hook,
  start: () => Promise<T>,
  after?: Hook,
): T {
  let current: T;
  before(async () => {
    current = await start();
  });
  after?.(() => current.close());
  return actingAs(() => current);
}

/** Returns an object that reads and changes the properties of the current one. */
export const actingAs = <T extends object>(current: () => T): T =>
  new Proxy({} as T, {
    get: (_, name) => Reflect.get(current(), name),
    set: (_, name, value) => Reflect.set(current(), name, value),
  });

/** Returns a logger, and the fields of its warnings and errors. */
export function loggedLines() {
  const lines: Record<string, unknown>[] = [];
  const log = (fields: object) => void lines.push(fields as Record<string, unknown>);
  return { lines, logger: { info: () => {}, warn: log, error: log } };
}
