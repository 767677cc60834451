import type { ImportRecord, OpenImport } from '@parley/transfer/records';

type WithoutSource<R> = R extends ImportRecord ? Omit<R, 'source'> : never;

/** Records; the source is `test:1` by default. */
export type TestRecords = readonly WithoutSource<ImportRecord>[];

/** Opened export with records and files in memory. */
export function openRecords(records: TestRecords, files: Readonly<Record<string, Uint8Array>> = {}): OpenImport {
  return {
    records: async function* () {
      for (const record of records) yield { source: 'test:1', ...record } as ImportRecord;
    },
    sizeOf: async (path) => files[path]?.length ?? null,
    openFile: async (path) => {
      const bytes = files[path];
      return bytes ? bytesOf(bytes) : null;
    },
    close: async () => {},
  };
}

async function* bytesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
