import {
  ImportRealm,
  MergeImport,
  type MergeSource,
  RealmReader,
  UndoImport,
  type UndoImportInput,
  VerifyImport,
} from '@parley/domain/exports';
import type { ImportBatchId, RealmId } from '@parley/domain/kernel';
import { addedReaders, loadExisting, type PlanOptions, planImport, verifyImport } from '@parley/imports';
import { openRecords, type TestRecords } from '@parley/imports/testing';
import { fieldsOf } from './expectations.js';
import type { TestServer, TestUser } from './test-server.js';

// biome-ignore lint/suspicious/noExplicitAny: wire forms, distinguished by assertions.
type Wire = any;

interface MergeSteps {
  readonly onProgress?: (messages: number) => void;
  /** Runs after all messages were added. */
  readonly beforeChanges?: () => Promise<unknown>;
}

/** Imports records into organizations of a test server. */
export class ImportLab {
  private readonly reader: RealmReader;

  constructor(
    private readonly server: TestServer,
    private readonly folder: string,
    private readonly files: Readonly<Record<string, Uint8Array>> = {},
  ) {
    this.reader = server.parley.useCase(RealmReader);
  }

  plan(records: TestRecords, more: Partial<PlanOptions> = {}) {
    const { markdownRenderer: renderer, unicodeEmoji, clock } = this.server.parley.ports;
    const options = { stringId: 'acme', realmUrl: 'http://acme.example', mappings: [], temporaryFolder: this.folder };
    return planImport(openRecords(records, this.files), {
      ...{ ...options, now: clock.now(), renderer, unicodeEmoji },
      ...more,
    });
  }

  /** Creates an organization. */
  async imported(records: TestRecords, stringId = 'acme') {
    const plan = await this.plan(records, { stringId });
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
    records: TestRecords,
    { onProgress = () => {}, beforeChanges, ...more }: Partial<PlanOptions> & MergeSteps = {},
  ) {
    const { uow } = this.server.storage;
    const plan = await this.plan(records, {
      loadExisting: (source) => loadExisting(realmId, source, uow, this.reader),
      ...more,
    });
    try {
      const source: MergeSource = {
        ...plan.source,
        changed: async function* () {
          await beforeChanges?.();
          yield* plan.source.changed();
        },
      };
      const output = await this.server.parley.useCase(MergeImport).execute({ realmId, source, onProgress });
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

  async verify(realmId: RealmId, records: TestRecords, batchId?: number) {
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

  async signIn(realmId: RealmId, email: string): Promise<TestUser> {
    const { storage, parley } = this.server;
    const [user] = await storage.uow.read(realmId, ({ users }) => users.listByEmail(realmId, [email]));
    const record = await storage.uow.read(realmId, ({ apiKeys }) => apiKeys.find(realmId, user!.id));
    const apiKey = parley.ports.apiKeyMint.derive(record!);
    return { id: user!.id, email, password: '', apiKey, user: user! };
  }

  async messagesFor(as: TestUser, narrow: object = []): Promise<Wire[]> {
    const params = { anchor: 'newest', num_before: 1000, num_after: 0, narrow };
    const response = await this.server.request('GET', '/messages', { as, params, realm: 'acme' });
    return (fieldsOf(response) as Wire).messages;
  }
}
