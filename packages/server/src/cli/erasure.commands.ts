import { existsSync } from 'node:fs';
import { CopyErasuresToLedger, ReplayErasures } from '@parley/domain/membership';
import { FileErasureLedger, readLedger } from '../backup/erasure-ledger.js';
import { type FoundWord, findWords, readWords } from '../doctor/find-words.js';
import { MAX_WORD_BYTES, MAX_WORDS, MIN_WORD_BYTES } from '../doctor/word-search.js';
import { counted } from '../kernel/counted.js';
import { StartupError, UsageError } from '../kernel/startup-error.js';
import { always, type Command, EXIT_CODES } from './command.js';
import { nameOf, serverCommand } from './command-subjects.js';
import { requireDatabase } from './databases.js';
import { timeOf } from './listed-lines.js';

const MIB = 1024 * 1024;
/** Maximum number of places in the output. */
const MAX_SHOWN = 1000;

/** Note about an organization that lost its last owner by a replay. */
export const ownerMissing = (realm: Parameters<typeof nameOf>[0]): string =>
  `The last owner of ${nameOf(realm)} is erased. Choose another one: parley user set-role.`;

export const ERASURE_COMMANDS: readonly Command[] = [
  serverCommand({
    name: 'erasure list',
    help: 'lists the erasures of people and their progress',
    details:
      'A running server retries an unfinished erasure every hour; its log says why it fails. Holds keep texts until their release.',
    examples: ['parley erasure list', 'parley erasure list --json'],
    isReadOnly: always,
    async run({
      parley: {
        ports: { unitOfWork },
      },
    }) {
      const realms = await unitOfWork.readAcross((reads) => reads.realms.list());
      const found = [];
      for (const realm of realms) {
        const erasures = await unitOfWork.read(realm.id, (reads) => reads.erasures.list(realm.id));
        for (const erasure of erasures) found.push({ realm, erasure });
      }
      return {
        lines: found.map(
          ({ realm, erasure: { personId, requestedAt, endedAt, removedRows, changedTexts, heldTexts } }) => {
            const waits = heldTexts > 0 ? `waits for a hold on ${counted(heldTexts, 'text')}` : 'unfinished';
            const state = endedAt === null ? waits : `ended ${timeOf(endedAt)}`;
            const counts = `${counted(removedRows, 'row')} deleted, ${counted(changedTexts, 'text')} changed`;
            return `${nameOf(realm)}, user ${personId}: requested ${timeOf(requestedAt)}, ${state}, ${counts}`;
          },
        ),
        data: {
          erasures: found.map(({ realm, erasure: { realmId: _, ...erasure } }) => ({
            realm: realm.stringId,
            ...erasure,
          })),
        },
      };
    },
  }),
  serverCommand({
    name: 'erasure ledger',
    words: 'FILE',
    help: 'adds all erasures to a ledger file: ids and times, no names',
    details:
      'Servers on SQLite keep such a file next to the database. On PostgreSQL, write one regularly and keep it apart from backups.',
    examples: ['parley erasure ledger /backups/parley.erasures'],
    async run({ parley, word }) {
      const path = word(0);
      const { unitOfWork } = parley.ports;
      await new CopyErasuresToLedger(unitOfWork, new FileErasureLedger(path)).execute();
      const erasures = (await readLedger(path)).length;
      return { lines: [`${path} has ${counted(erasures, 'erasure')}.`], data: { path, erasures } };
    },
  }),
  serverCommand({
    name: 'erasure replay',
    words: 'FILE',
    help: 'repeats the erasures of a ledger in a restored database, before the first server starts',
    details: 'For PostgreSQL; parley restore does it itself. Run it before anybody is imported. It can be repeated.',
    examples: ['parley erasure replay /backups/parley.erasures'],
    input({ word }) {
      if (!existsSync(word(0))) throw new StartupError(`${word(0)} does not exist.`);
      return readLedger(word(0));
    },
    async run({ parley: { useCase } }, entries) {
      const { repeated, withoutOwner } = await useCase(ReplayErasures).execute(entries);
      return {
        lines: [
          `Erased the identity of ${counted(repeated.length, 'person', 'people')} again. The server deletes the rest.`,
          ...withoutOwner.map(ownerMissing),
        ],
        data: { erasedAgain: repeated.length, withoutOwner: withoutOwner.map(({ stringId }) => stringId) },
      };
    },
  }),
  {
    name: 'erasure verify',
    help: 'searches everything that the server stores for the words of a file, and exits with 3 if it finds one',
    details: [
      'Searches the rows and search terms, and on SQLite also all bytes of the database file and its log. Then the uploaded files,',
      'exports, unfinished uploads and imports, the outbox and the audit lines of commands; in a bucket, earlier versions too. The',
      'server may be running; run it a day after an erasure. The output has places and the lines of the words, but no words. Delete FILE afterwards.',
    ].join('\n'),
    flags: {
      words: {
        value: 'FILE',
        help: `one word per line: at most ${MAX_WORDS}, of ${MIN_WORD_BYTES} to ${MAX_WORD_BYTES} bytes`,
      },
    },
    examples: ['parley erasure verify --words /root/words.txt', 'parley erasure verify --words /root/words.txt --json'],
    isReadOnly: always,
    async run({ invocation, flag }) {
      const { configuration } = invocation;
      const list = flag('words');
      if (list === undefined) throw new UsageError('--words FILE is required.');
      requireDatabase(invocation);
      const words = await readWords(list);
      const shown: FoundWord[] = [];
      const report = await findWords(configuration, words, (found) => {
        if (shown.length < MAX_SHOWN) shown.push(found);
      });
      const { found, bytes, files, compressedFiles, unsearchedVersions } = report;
      const rest = found - shown.length;
      const isFile = configuration.database.kind === 'sqlite';
      return {
        lines: [
          ...shown.map(({ place, offset, line }) => `${place}, offset ${offset}: the word of line ${line}`),
          ...(rest > 0 ? [`and ${counted(rest, 'more place')}`] : []),
          `${found === 0 ? 'Nothing found' : `Found ${counted(found, 'time')}`} in ${(bytes / MIB).toFixed(1)} MiB: rows and ${counted(files, 'file')}.`,
          ...(isFile ? [] : ["Not searched: pages, log, replicas and backups of PostgreSQL, and the server's log."]),
          ...(unsearchedVersions === null
            ? []
            : [`Not searched: earlier versions of objects in the bucket (${unsearchedVersions}).`]),
          ...(compressedFiles > 0
            ? [`The contents of ${counted(compressedFiles, 'compressed file')} were not unpacked, such as exports.`]
            : []),
        ],
        data: { ...report, places: shown },
        exitCode: found === 0 ? EXIT_CODES.done : EXIT_CODES.found,
      };
    },
  },
];
