import type { PasswordHasher, Role } from '@parley/domain/access';
import {
  type Bus,
  DomainError,
  LocalBus,
  POSITIONS_PER_SEQ,
  type RealmId,
  type Repositories,
  type UnitOfWork,
  type UserId,
} from '@parley/domain/kernel';
import { CreateRealm } from '@parley/domain/log-in';
import { RegisterUser } from '@parley/domain/membership';
import { type Logger, silentLogger } from '@parley/http';
import { htmlMessages, unicodeEmoji, ZulipMarkdownRenderer } from '@parley/markdown';
import { type ComposedParley, composeParley, HistoryMarks, SeededRandom } from '@parley/server/testing';
import { administerDatabase, openSqliteStorage, type SqliteStorage } from '@parley/sqlite';
import { FakeImageProcessor, intercepting, MemoryBlobStore, MemoryPartialBlobStore } from '@parley/testkit';
import type { SimulatedApp } from './app.js';
import { SimulatedDisk } from './disk.js';
import { Outside } from './outside.js';
import type { SimulatedTime } from './simulated-time.js';
import { settle } from './simulated-time.js';
import { returnToLastRelease } from './upgrading.js';
import { Violation } from './violation.js';
import { type Answer, type Call, ConnectionLost, Wire } from './wire.js';

/** Account of a simulated person. */
export interface Account {
  readonly id: number;
  readonly authorization: string;
  /** Name of the host of a copied company. */
  readonly copyHost?: string;
}

export const externalIdOf = (person: number): string => `p${person}`;

/** Moment of a crash, relative to the next commits. */
export interface CrashPlan {
  /** Number of commits that succeed before the crash. */
  readonly commits: number;
  /** Moment before the next unit, within its statements, or after its commit but before anybody is informed. */
  readonly moment: 'before' | 'within' | 'after';
}

/** Server with its connections. */
interface Node {
  readonly parley: ComposedParley;
  readonly wire: Wire;
}

/** All nodes of a start, which end together, and their state as seen from outside. */
interface Process {
  /** Storage without faults. */
  readonly uow: UnitOfWork;
  readonly nodes: readonly Node[];
  readonly close: () => Promise<void>;
  isDead: boolean;
  units: number;
  calls: number;
}

/** Hashing is tested elsewhere; threads would end in an order that the seed does not decide. */
const plainHasher: PasswordHasher = {
  hash: async (password) => `plain:${password}`,
  verify: async (password, hash) => hash === `plain:${password}`,
};

/** Statements that write in a unit of work, of which one is interrupted. */
const MAX_INTERRUPTED = 12;

/** Turns of the event loop until a slow read ends, exclusively. */
const MAX_TURNS = 6;

/** Maximum number of units of work in one step. */
const MAX_UNITS = 30_000;

export async function accountOf(parley: ComposedParley, realmId: RealmId, id: UserId, email: string): Promise<Account> {
  const { unitOfWork, apiKeyMint } = parley.ports;
  const record = await unitOfWork.read(realmId, ({ apiKeys }: Repositories) => apiKeys.find(realmId, id));
  const credentials = Buffer.from(`${email}:${apiKeyMint.derive(record!)}`).toString('base64');
  return { id, authorization: `Basic ${credentials}` };
}

const never = <T>(): Promise<T> => new Promise<T>(() => {});

const REALM = 'company';

/** Server on a database file, which survives crashes of its process. */
export class Engine {
  /** Problems that the server reported to its operator. */
  readonly problems: string[] = [];
  /** Number of crashes. */
  crashes = 0;
  /** True if results of reads and commits arrive some turns of the event loop later, so that others work in between. */
  isSlow = false;
  readonly disk = new SimulatedDisk();
  private readonly randomness: SeededRandom;
  private readonly faultRandomness: SeededRandom;
  readonly outside = new Outside();
  private readonly blobs: MemoryBlobStore;
  private readonly partialBlobs: MemoryPartialBlobStore;
  private process!: Process;
  /** Application with hooks and consumers in the process of the server. */
  app: SimulatedApp | null = null;
  /** Next crash; null if none is planned. */
  crashPlan: CrashPlan | null = null;
  /** Number of written statements before the upgrade at the next start stops; null without an upgrade. */
  upgradePlan: number | null = null;
  private starts = 0;
  /** Ids of the servers of the present process. */
  private readonly serverIds = new Set<string>();
  /** Number of units of work since somebody last waited for the engine. */
  private unitsSinceTurn = 0;
  private isClosed = false;

  constructor(
    private readonly time: SimulatedTime,
    seed: number,
    private readonly nodeCount = 1,
  ) {
    this.randomness = new SeededRandom(seed);
    this.faultRandomness = new SeededRandom(seed + 1);
    this.blobs = new MemoryBlobStore(time);
    this.partialBlobs = new MemoryPartialBlobStore(this.blobs, time);
  }

  /** True while the server works on something that does not wait for time. */
  readonly isBusy = (): boolean => {
    this.unitsSinceTurn = 0;
    return !this.process.isDead && this.process.units + this.process.calls > 0;
  };

  async hasLeasedJobs(): Promise<boolean> {
    const { isDead, uow } = this.process;
    if (isDead) return false;
    const holders = await uow.readAcross(({ jobs }) => jobs.listHolders());
    // Nobody stores the results of jobs that an earlier process had.
    return holders.some((holder) => this.serverIds.has(holder));
  }

  async start(): Promise<void> {
    this.serverIds.clear();
    const { uow, close, installation } = this.openStorage();
    const { path } = this.disk;
    const state = { isDead: false, units: 0, calls: 0 };
    const history = administerDatabase(path, this.time);
    const addMarks: typeof history.addMarks = (...marks) => (state.isDead ? never() : history.addMarks(...marks));
    const database = { id: installation.id, path, history: { ...history, addMarks } };
    const marks = new HistoryMarks(database, null, silentLogger);
    await marks.compare('mark');
    const error: Logger['error'] = (fields, message) => this.notice(fields, message);
    const log: Logger = { ...silentLogger, warn: () => {}, error };
    const [unitOfWork, buses] = [this.withFaults(uow, state), new LocalBus()];
    const nodes: Node[] = [];
    for (let n = 0; n < this.nodeCount; n++) nodes.push(await this.compose(unitOfWork, buses.connect(), log, marks));
    this.process = Object.assign(state, { nodes, uow, close });
    await settle(this.isBusy);
  }

  private openStorage(): SqliteStorage {
    const { path, trace } = this.disk;
    try {
      return openSqliteStorage({ path, clock: this.time, timers: this.time, words: htmlMessages, trace });
    } catch (error) {
      throw new Violation('the server starts', `${error}`);
    }
  }

  private async compose(unitOfWork: UnitOfWork, bus: Bus, logger: Logger, marks: HistoryMarks): Promise<Node> {
    const { time } = this;
    const serverId = `simulated ${++this.starts}`;
    this.serverIds.add(serverId);
    const parley = await composeParley({
      ...{ unitOfWork, bus, logger, unicodeEmoji },
      ...{ clock: time, isClockWatched: true, timers: time, eventLoop: time, randomness: this.randomness },
      ...{ mailer: this.outside, webhookClient: this.outside, push: this.outside },
      ...{ blobs: this.blobs, partialBlobs: this.partialBlobs, images: new FakeImageProcessor() },
      ...{ passwordHasher: plainHasher, markdownRenderer: new ZulipMarkdownRenderer() },
      secret: 'the secret of a simulated server',
      serverId,
      onOtherSecret: 'refuse',
      url: 'http://localhost',
      defaultRealm: REALM,
      ...{ allowsWebPublicChannels: true, hasRateLimits: false, trustedProxies: 0, isDev: false },
      importRunner: null,
      // Random ids of databases would make the ids of queues random.
      ...{ history: { database: '', continue: marks.continue }, keepHistory: marks.keep },
      // A node that is not alone leaves the queues of the others alone.
      ...(this.nodeCount > 1 && { reportPresence: async () => [] }),
      release: async () => {},
    });
    await this.startApp(parley);
    return { parley, wire: new Wire(parley.handler) };
  }

  /** Creates the organization with one person per role. */
  async createCompany(roles: readonly Role[]): Promise<readonly Account[]> {
    const [{ parley }] = this.process.nodes as [Node];
    const realm = await parley.useCase(CreateRealm).execute({ stringId: REALM, name: 'Company' });
    const accounts: Account[] = [];
    for (const [index, role] of roles.entries()) accounts.push(await this.addPerson(realm.id, index, role));
    return accounts;
  }

  /** Greatest id that an event made so far can have. */
  async lastEventId(): Promise<number> {
    // Copies of the company have later ids.
    const [company] = await this.process.uow.readAcross(({ events }) => events.listLastSeqs());
    return (company!.seq + 1) * POSITIONS_PER_SEQ - 1;
  }

  /** Runs an application from now on, which knows people by external ids. */
  async install(app: SimulatedApp, accounts: readonly Account[]): Promise<void> {
    const { nodes } = this.process;
    for (const [person, { id }] of accounts.entries()) {
      await nodes[0]!.parley.users.link({ realm: REALM, externalId: externalIdOf(person), userId: id });
    }
    this.app = app;
    for (const { parley } of nodes) await this.startApp(parley);
    await settle(this.isBusy);
  }

  /** A process with an application starts when the disk works again. */
  private async startApp(parley: ComposedParley): Promise<void> {
    if (!this.app) return;
    const { failure } = this.disk;
    this.disk.failure = null;
    try {
      await this.app.start(parley, { realm: REALM, clock: this.time });
    } catch (error) {
      throw new Violation('the application starts', `${error}`);
    }
    this.disk.failure = failure;
  }

  /** Does something as the operator. Undefined if it fails or the process ends before. */
  async administer<T>(work: (parley: ComposedParley, realm: string) => Promise<T>): Promise<T | undefined> {
    let result: T | undefined;
    const done = (value: T) => {
      result = value;
    };
    const { process } = this;
    let isRunning = true;
    work(process.nodes[0]!.parley, REALM)
      .then(done, () => {})
      .finally(() => {
        isRunning = false;
      });
    // The work may read files, for which the engine does not wait.
    do await settle(this.isBusy);
    while (isRunning && !process.isDead);
    return result;
  }

  private async addPerson(realmId: RealmId, index: number, role: Role): Promise<Account> {
    const [{ parley }] = this.process.nodes as [Node];
    const email = `p${index}@example.com`;
    const newcomer = { realmId, email, fullName: `Person ${index}`, role, password: null };
    const { id } = await parley.useCase(RegisterUser).execute(newcomer);
    return accountOf(parley, realmId, id, email);
  }

  /** @throws ConnectionLost */
  async call(call: Call, client: number): Promise<Answer> {
    // Other people's requests may still go on when a violation has ended the run.
    if (this.isClosed) return never();
    const { process } = this;
    if (process.isDead) throw new ConnectionLost();
    process.calls++;
    try {
      return await this.nodeOf(process, client).wire.call(call);
    } finally {
      process.calls--;
    }
  }

  /**
   * Sends a request for which nobody waits; the client begins to read the response when `waiting` resolves.
   * @throws ConnectionLost
   */
  callSlowly(call: Call, client: number, waiting?: Promise<void>): Promise<Answer> {
    return this.nodeOf(this.process, client).wire.call(call, waiting);
  }

  /** A client stays at one node until the next start. */
  private nodeOf({ nodes }: Process, client: number): Node {
    return nodes[(client + this.crashes) % nodes.length]!;
  }

  get isDead(): boolean {
    return this.process.isDead;
  }

  get isDiskFailing(): boolean {
    return this.disk.failure !== null;
  }

  /** Ends the process between two turns of the event loop, without any of its farewells. */
  async crash(): Promise<void> {
    this.die();
    await settle(() => false);
  }

  /** Starts the server again after a crash. */
  async restart(): Promise<void> {
    if (this.isClosed) return never();
    this.crashPlan = null;
    // Releases the file; nothing that the old process still does survives.
    await this.process.close();
    this.disk.recover();
    if (this.upgradePlan !== null) await this.upgradeUntil(this.upgradePlan);
    this.upgradePlan = null;
    await this.start();
  }

  /** Upgrades the database of the last release, until the machine stops. The next start does the rest. */
  private async upgradeUntil(statements: number): Promise<void> {
    const { disk } = this;
    returnToLastRelease(disk.path);
    disk.interruptAfter(statements, () => {
      disk.losePower(this.faultRandomness.fraction());
      throw new Error('The process has ended');
    });
    try {
      await this.openStorage().close();
    } catch (error) {
      if (!disk.isLost) throw error;
    }
    disk.recover();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.process.isDead = true;
    for (const { wire } of this.process.nodes) wire.cut();
    this.time.dropTimers();
    await this.process.close();
    this.disk.remove();
  }

  private die(): void {
    if (this.process.isDead) return;
    this.crashes++;
    this.process.isDead = true;
    this.disk.losePower(this.faultRandomness.fraction());
    this.time.dropTimers();
    for (const { wire } of this.process.nodes) wire.cut();
  }

  private notice(fields: object, message: string): void {
    const { err } = fields as { err?: Error };
    if (err instanceof DomainError && err.code === 'SERVER_BUSY' && this.isDiskFailing) return;
    this.problems.push(`${message}${err ? `: ${err.stack ?? err}` : ''}`);
  }

  /** Counts running units, and ends the process at the planned commit. */
  private withFaults(uow: UnitOfWork, process: Pick<Process, 'isDead' | 'units'>): UnitOfWork {
    const counted = async <T>(work: () => Promise<T>): Promise<T> => {
      if (process.isDead) return never();
      // Work that never leaves the event loop is seen by nobody else.
      if (++this.unitsSinceTurn > MAX_UNITS) throw new Violation('work ends', 'a unit of work is repeated without end');
      process.units++;
      try {
        const result = await work();
        return process.isDead ? await never<T>() : result;
      } catch (error) {
        // Nobody learns of a failure in a process that has ended.
        if (process.isDead) return await never<T>();
        throw error;
      } finally {
        process.units--;
      }
    };
    return intercepting(uow, {
      read: (work, run) =>
        counted(async () => {
          const result = await run(work);
          await this.linger();
          return result;
        }),
      write: (work, run) =>
        counted(async () => {
          const moment = this.nextCrash();
          if (moment === 'before') {
            this.die();
            return never();
          }
          if (moment === 'within') {
            this.disk.interruptAfter(this.faultRandomness.below(MAX_INTERRUPTED), () => {
              this.die();
              throw new Error('The process has ended');
            });
          }
          const result = await run(async (tx) => {
            const made = await work(tx);
            // A unit that was queued before the crash is rolled back with its batch.
            if (process.isDead) throw new Error('The process has ended');
            return made;
          });
          if (moment !== null) this.die();
          await this.linger();
          return result;
        }),
    });
  }

  private async linger(): Promise<void> {
    for (let turns = this.isSlow ? this.faultRandomness.below(MAX_TURNS) : 0; turns > 0; turns--)
      await this.time.yield();
  }

  /** Moment at which the process ends in the unit that begins now; null if it survives it. Units may run together. */
  private nextCrash(): CrashPlan['moment'] | null {
    const plan = this.crashPlan;
    if (!plan) return null;
    this.crashPlan = plan.commits > 0 ? { ...plan, commits: plan.commits - 1 } : null;
    return plan.commits > 0 ? null : plan.moment;
  }
}
