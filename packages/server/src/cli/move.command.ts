import { resolve } from 'node:path';
import { type OpenTableSource, openTableSource } from '@parley/sqlite';
import { blobsOf, copyFiles, copyUploads, uploadsOf } from '../backup/copy-files.js';
import type { DatabaseLocation } from '../configuration/configuration.js';
import { SETTINGS } from '../configuration/settings.js';
import { counted } from '../kernel/counted.js';
import { StartupError, UsageError } from '../kernel/startup-error.js';
import { readSetting } from '../kernel/values.js';
import {
  blobStoreOf,
  type FilesConfiguration,
  filesFolderOf,
  locationOf,
  partialBlobStoreOf,
} from '../start/files-location.js';
import {
  claimFiles,
  type DatabaseIdentity,
  filesStateOf,
  notOwn,
  requireIdentity,
  SHARED_ADVICE,
} from '../start/files-mark.js';
import type { Command, CommandContext, CommandResult } from './command.js';

async function move(context: CommandContext): Promise<CommandResult> {
  const { terminal, flag, isOn, isJson } = context;
  const from = readDatabase('from', flag('from'));
  if (isOn('undo')) return undoMove(from);
  const to = readDatabase('to', flag('to'));
  if (from.kind !== 'sqlite' || to.kind !== 'postgres') {
    throw new UsageError('parley move takes --from sqlite:PATH and --to postgres://USER@HOST/NAME.');
  }
  const { movePostgres, withoutPassword } = await import('@parley/postgres');
  const own = requireIdentity(from.path);
  const locations = locationsOf(context, from);
  await requireSource(locations, own);
  const source = openTableSource(from.path);
  let copied = 0;
  try {
    // First, because servers may use the database as soon as it has all rows.
    const files = locations.to && (await moveFiles(source, locations.from, locations.to, { own, context }));
    const moved = await movePostgres(to.url, source, (table, rows) => {
      copied += rows;
      if (!isJson && copied % ROWS_PER_LINE < rows)
        terminal.err(`${counted(copied, 'row')} copied so far, now copying ${table}`);
    });
    const rows = moved.reduce((sum, table) => sum + table.rows, 0);
    if (!isOn('keep')) source.retire(withoutPassword(to.url));
    return {
      lines: [
        `Moved ${counted(rows, 'row')} in ${counted(moved.length, 'table')} to ${to.url} and verified them.`,
        ...(files ? files.lines : []),
        isOn('keep')
          ? `Servers may still use ${from.path}. Their changes are not copied.`
          : `Start servers with PARLEY_DATABASE=${to.url}, the same secret and ${filesSetting(locations)}. Servers reject ${from.path} from now on; keep it as a backup.`,
      ],
      data: { from: from.path, to: to.url, rows, tables: moved, ...(files && { files: files.data }) },
    };
  } finally {
    source.close();
  }
}

interface Locations {
  readonly from: FilesConfiguration;
  /** Null if the files stay where they are. */
  readonly to: FilesConfiguration | null;
}

function locationsOf({ invocation, flag }: CommandContext, database: DatabaseLocation): Locations {
  const { files, outgoingProxy } = invocation.configuration;
  const target = flag('files-to');
  const to = target === undefined ? null : readSetting(SETTINGS.files.type, target, { name: '--files-to' });
  return { from: { files, outgoingProxy, database }, to: to && { files: to, outgoingProxy, database: null } };
}

/** @throws StartupError unless the files are those of the database */
async function requireSource({ from, to }: Locations, own: DatabaseIdentity): Promise<void> {
  const state = await filesStateOf(from, own).catch((error: Error) => {
    throw new StartupError(`${locationOf(from)} cannot be used for files: ${error.message}`);
  });
  if (state === 'foreign' || state === 'original') throw notOwn(from, state);
  if (state === 'shared' && to === null)
    throw new StartupError(`Name a location of its own in --files-to: ${SHARED_ADVICE}.`);
}

const filesSetting = ({ from, to }: Locations): string => {
  const { files } = to ?? from;
  if (files?.kind === 's3') return `the bucket ${files.bucket} in PARLEY_FILES`;
  return `PARLEY_FILES=folder:${resolve(filesFolderOf(to ?? from))} for one server`;
};

/** @throws StartupError */
async function moveFiles(
  rows: OpenTableSource,
  from: FilesConfiguration,
  to: FilesConfiguration,
  { own, context: { terminal, isJson } }: { readonly own: DatabaseIdentity; readonly context: CommandContext },
) {
  const source = blobStoreOf(from);
  const target = blobStoreOf(to);
  await claimFiles(to, own, { isNew: false, adopts: false }).catch((error: Error) => {
    if (error instanceof StartupError) throw error;
    throw new StartupError(`${locationOf(to)} cannot be used for files: ${error.message}`);
  });
  const { copied, present, missing } = await copyFiles(blobsOf(rows), { source, target }, (count) => {
    if (!isJson && count % FILES_PER_LINE === 0) terminal.err(`${counted(count, 'file')} copied so far`);
  });
  if (copied + present === 0 && missing.length > 0)
    throw new StartupError(
      `${locationOf(from)} has no file of the database. Name the location of its files in --files (PARLEY_FILES).`,
    );
  const uploads = await copyUploads(uploadsOf(rows), {
    source: partialBlobStoreOf(from, source),
    target: partialBlobStoreOf(to, target),
  });
  const names = `${missing.slice(0, NAMED).join(', ')}${missing.length > NAMED ? ', …' : ''}`;
  return {
    lines: [
      `Copied ${counted(copied, 'file')} and ${counted(uploads, 'unfinished upload')} and verified them${present > 0 ? `; ${counted(present, 'file')} had been copied before` : ''}.`,
      ...(missing.length > 0
        ? [`The content of ${counted(missing.length, 'file')} is missing or incomplete: ${names}.`]
        : []),
    ],
    data: { copied, present, uploads, missing },
  };
}

function undoMove(from: DatabaseLocation): CommandResult {
  if (from.kind !== 'sqlite') throw new UsageError('parley move --undo takes --from sqlite:PATH.');
  const source = openTableSource(from.path);
  try {
    source.retire(null);
  } finally {
    source.close();
  }
  return { lines: [`Servers may use ${from.path} again.`], data: { from: from.path } };
}

const ROWS_PER_LINE = 100_000;
const FILES_PER_LINE = 1000;
/** Maximum number of missing files in a line. */
const NAMED = 20;

/** @throws UsageError */
const readDatabase = (flag: string, text = ''): DatabaseLocation =>
  readSetting(SETTINGS.database.type, text, { name: `--${flag}` });

export const MOVE_COMMAND: Command = {
  name: 'move',
  help: 'copies a server from an SQLite file to an empty PostgreSQL database, and its files to another folder or a bucket',
  details: [
    'No server may run during the move. Ids, passwords, keys, sessions and event queues are kept, so clients continue with the new server.',
    'Without --files-to, files stay in the folder or bucket of --files (PARLEY_FILES). A folder is for one server. Run an interrupted command',
    'again to continue; all rows and copied files are compared with the originals. The PostgreSQL database, or the schema that the address',
    'names, may contain no other tables. Afterwards, servers reject the SQLite file. A rehearsal keeps it usable with --keep.',
  ].join('\n'),
  flags: {
    from: { value: 'DATABASE', help: 'database to copy from: sqlite:PATH' },
    to: {
      value: 'DATABASE',
      help: 'database to copy to: postgres://USER@HOST/NAME, with the password in PGPASSWORD or PGPASSFILE',
    },
    'files-to': {
      value: 'LOCATION',
      help: 'folder or bucket to copy files to: folder:PATH or s3:…, as in PARLEY_FILES',
    },
    keep: { help: 'lets servers use the SQLite file afterwards, for a rehearsal; name another folder in --files-to' },
    undo: { help: 'only lets servers use the SQLite file again; takes no --to' },
  },
  examples: [
    'parley move --from sqlite:/var/lib/parley/parley.db --to postgres://parley@db.example.com/parley',
    "parley move --from sqlite:parley.db --to postgres://parley@db.example.com/parley --files-to 's3:parley?endpoint=https://s3.example.com'",
  ],
  run: move,
};
