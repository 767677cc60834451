import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { shape } from '@parley/domain/kernel';
import { excessOf, findFile, type JsonLimits, pathIn, readLines } from '@parley/export-files';
import type { ImportReader, ImportRecord, OpenImport } from '@parley/transfer/records';
import { checkRecord } from './check-record.js';

/** Maximum UTF-16 units of a line. The members of a channel are the longest part of an ordinary line. */
const MAX_LINE_LENGTH = 16 * 1024 ** 2;
const LINE_LIMITS: JsonLimits = { maxDepth: 50, maxStructures: 200_000, maxMembers: 10_000 };

/** Name of the file in a folder that also contains the files of messages. */
const RECORDS_FILE = 'records.jsonl';

const isFolder = async (path: string): Promise<boolean> => (await stat(path)).isDirectory();

/** Reads import records from a `.jsonl` file, or from `records.jsonl` in a folder. */
export const JSONL_READER: ImportReader = {
  name: 'records',
  async recognizes(given) {
    const path = resolve(given);
    if (!(await isFolder(path))) return path.endsWith('.jsonl');
    return (await findFile(path, join(path, RECORDS_FILE))) !== null;
  },
  async open(given): Promise<OpenImport> {
    const path = resolve(given);
    const root = (await isFolder(path)) ? path : dirname(path);
    const name = root === path ? RECORDS_FILE : basename(path);
    return { records: () => readRecords(root, name), ...filesIn(root, name), close: async () => {} };
  },
};

type Files = Pick<OpenImport, 'sizeOf' | 'openFile'>;

/** Files below a folder, except its records; paths must not leave it. */
export const filesIn = (folder: string, records?: string): Files => {
  const root = resolve(folder);
  const find = async (file: string) => {
    const location = pathIn(root, '.', file);
    const isRecords = records !== undefined && location === join(root, records);
    return isRecords ? null : findFile(root, location);
  };
  return {
    sizeOf: async (file) => (await find(file))?.size ?? null,
    openFile: async (file) => ((await find(file)) ? createReadStream(pathIn(root, '.', file)) : null),
  };
};

export const NO_FILES: Files = { sizeOf: async () => null, openFile: async () => null };

async function* readRecords(root: string, name: string): AsyncGenerator<ImportRecord> {
  let number = 0;
  for await (const line of readLines(root, name, MAX_LINE_LENGTH)) {
    number++;
    if (line.trim() === '') continue;
    const where = `${name}: line ${number}`;
    const excess = excessOf(line, LINE_LIMITS);
    if (excess) throw shape.wrong(where, excess);
    yield checkRecord(parsed(line, where), where);
  }
}

function parsed(line: string, where: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw shape.wrong(where, `is not JSON: ${(error as Error).message}`);
  }
}
