import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImportBatchId, RealmId, UserId } from '@parley/domain/kernel';
import { SharpImageProcessor } from '@parley/images';
import { addedReaders, loadExisting, type PlanOptions, planImport, verifyImport } from '@parley/import-plan';
import { openRecords, type TestRecords } from '@parley/import-plan/testing';
import { withMetadata } from '@parley/testkit';
import { type MergeSource, RealmReader } from '@parley/transfer/exports';
import { ImportRealm, MergeImport, UndoImport, type UndoImportInput, VerifyImport } from '@parley/transfer/imports';
import type { OpenImport } from '@parley/transfer/records';
import { fieldsOf, type Wire } from './expectations.js';
import { pngOf } from './images.js';
import { actingAs, type Hook, startedBefore } from './servers.js';
import { TestServer, type TestServerOptions, type TestUser } from './test-server.js';

const FILES = {
  'cat.png': pngOf(200, 100),
  'photo.png': withMetadata(pngOf(20, 10), 'CamCo'),
  'plan.txt': Buffer.from('the plan'),
  'copy.txt': Buffer.from('the plan'),
  'other.txt': Buffer.from('the plot'),
};

/** Record of a person with an account. */
export const personRecord = (id: string, more: object = {}) =>
  ({ kind: 'person', id, name: `${id} of Acme`, email: `${id}@acme.example`, isEmailVerified: true, ...more }) as const;

/** Record of a message in the channel `c`. */
export const messageRecord = (id: string, sender: string, sentAt: number, content: unknown, more: object = {}) =>
  ({ kind: 'message', id, channel: 'c', sender, sentAt, content, ...more }) as TestRecords[number];

interface MergeSteps {
  readonly onProgress?: (messages: number) => void;
  /** Owner who imports; default: the operator. */
  readonly requesterId?: UserId | null;
  /** Runs after the plan was made. */
  readonly afterPlan?: () => Promise<unknown>;
  /** Runs after all messages were added. */
  readonly beforeChanges?: () => Promise<unknown>;
}

/** Server for imports of records that may refer to the names in `FILES`. */
export class ImportLab {
  private readonly folder = mkdtempSync(join(tmpdir(), 'parley-lab-'));
  private readonly reader: RealmReader;

  private constructor(readonly server: TestServer) {
    this.reader = server.parley.useCase(RealmReader);
  }

  /** Starts a server with another organization, so all ids differ from those of a plan. */
  static async start(options: TestServerOptions = {}): Promise<ImportLab> {
    return new ImportLab(await TestServer.start({ images: new SharpImageProcessor(), ...options }));
  }

  async close(): Promise<void> {
    await this.server.close();
    expect(readdirSync(this.folder)).toEqual([]);
    rmSync(this.folder, { recursive: true });
  }

  plan(records: TestRecords | OpenImport, more: Partial<PlanOptions> = {}) {
    const { markdownRenderer: renderer, unicodeEmoji, clock } = this.server.parley.ports;
    const options = { stringId: 'acme', realmUrl: 'http://acme.example', mappings: [], temporaryFolder: this.folder };
    return planImport('openFile' in records ? records : openRecords(records, FILES), {
      ...{ ...options, now: clock.now(), renderer, unicodeEmoji },
      ...more,
    });
  }

  /** Creates an organization. */
  async imported(records: TestRecords, { stringId = 'acme', ...more }: Partial<PlanOptions> = {}) {
    const plan = await this.plan(records, { stringId, ...more });
    try {
      return await this.server.parley.useCase(ImportRealm).execute({
        source: plan.source,
        stringId,
        verify: (done) => verifyImport(plan, done, this.reader),
      });
    } finally {
      plan.close();
    }
  }

  /** Imports into an organization that exists already. */
  async merged(
    realmId: RealmId,
    records: TestRecords | OpenImport,
    {
      onProgress = () => {},
      requesterId = null,
      afterPlan,
      beforeChanges,
      ...more
    }: Partial<PlanOptions> & MergeSteps = {},
  ) {
    const { uow } = this.server.storage;
    const plan = await this.plan(records, {
      loadExisting: (source) => loadExisting(realmId, source, uow, this.reader, requesterId),
      ...more,
    });
    try {
      await afterPlan?.();
      const source: MergeSource = {
        ...plan.source,
        changed: async function* () {
          await beforeChanges?.();
          yield* plan.source.changed();
        },
      };
      const output = await this.server.parley
        .useCase(MergeImport)
        .execute({ realmId, source, requesterId, onProgress });
      return { ...output, summary: plan.summary };
    } finally {
      plan.close();
    }
  }

  async undo(realmId: RealmId, more: Partial<UndoImportInput> = {}) {
    const [batch] = await this.batches(realmId);
    const input = { realmId, batchId: batch!.id, isForced: false, isDryRun: false, ...more };
    return this.server.parley.useCase(UndoImport).execute(input);
  }

  async verify(realmId: RealmId, records: TestRecords | OpenImport, batchId?: number) {
    const plan = await this.plan(records, { realmUrl: '' });
    try {
      const [batch] = await this.batches(realmId);
      const input = { realmId, batchId: (batchId ?? batch!.id) as ImportBatchId, records: plan.records };
      const verified = await this.server.parley.useCase(VerifyImport).execute(input);
      return {
        ...verified,
        added: await addedReaders(plan, { realmId, batchIds: verified.batchIds }, this.server.storage.uow, this.reader),
      };
    } finally {
      plan.close();
    }
  }

  batches(realmId: RealmId) {
    return this.server.storage.uow.read(realmId, ({ importBatches }) => importBatches.list(realmId));
  }

  /** Returns everything that imports add to an organization, by name. */
  async stateOf(realmId: RealmId) {
    const { realm } = await this.reader.open(realmId, { covers: 'all' });
    const keys = await this.server.storage.uow.read(realmId, (reads) => reads.placeholderKeys.list(realmId));
    const names = new Map(realm.users.map(({ user }) => [user.id, user.fullName]));
    const folders = new Map(realm.channelFolders.map(({ id, name }) => [id, name]));
    return {
      groups: realm.groups.map(({ systemName, name, memberIds }) => [
        systemName ?? name,
        memberIds.map((id) => names.get(id)).sort(),
      ]),
      users: realm.users.map(({ user }) => [user.fullName, user.role, user.isActive]).sort(),
      channels: realm.channels
        .map(({ name, privacy, isArchived, folderId }) => [name, privacy, isArchived, folders.get(folderId!)])
        .sort(),
      emoji: realm.customEmoji.map(({ name }) => name),
      keys: keys.map(({ key }) => key),
      imports: (await this.batches(realmId)).map(({ status, messages }) => [status, messages]),
    };
  }

  async signIn(realmId: RealmId, email: string): Promise<TestUser> {
    const { storage, parley } = this.server;
    const [user] = await storage.uow.read(realmId, ({ users }) => users.listByEmail(realmId, [email]));
    const record = await storage.uow.read(realmId, ({ apiKeys }) => apiKeys.find(realmId, user!.id));
    const apiKey = parley.ports.apiKeyMint.derive(record!);
    return { id: user!.id, email, password: '', apiKey, user: user! };
  }

  async messagesFor(as: TestUser, narrow: object = [], realm = 'acme'): Promise<Wire[]> {
    const params = { anchor: 'newest', num_before: 1000, num_after: 0, narrow };
    const response = await this.server.request('GET', '/messages', { as, params, realm });
    return (fieldsOf(response) as Wire).messages;
  }
}

/** Starts a lab before each test, and closes it after the test. */
export const labPerTest = () => labOfTests(beforeEach, afterEach);

/** Starts a lab before all tests of the file, and closes it after them. */
export const labPerSuite = () => labOfTests(beforeAll, afterAll);

function labOfTests(before: Hook, after: Hook): Pick<ImportLab, 'server'> & { readonly lab: ImportLab } {
  const lab = startedBefore(before, () => ImportLab.start(), after);
  return { lab, server: actingAs(() => lab.server) };
}
