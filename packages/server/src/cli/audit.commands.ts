import { type AuditFault, type AuditLink, ReadAuditLog, VerifyAuditLog } from '@parley/domain/membership';
import { AUDIT_CSV_HEADER, auditCsvLine } from '@parley/http';
import { writeWhole } from '../exports/write-exports.js';
import { counted } from '../kernel/counted.js';
import { UsageError } from '../kernel/startup-error.js';
import { always, type Command, EXIT_CODES } from './command.js';
import { nameOf, realmCommand } from './command-subjects.js';
import { requireNewFile } from './export.commands.js';

const FAULTS: Readonly<Record<AuditFault, string>> = {
  missing: 'entries are missing before this one or at the end',
  changed: 'the entry was changed, or is not linked to the one before it',
  detailChanged: 'the details were changed',
  detailMissing: 'the details are missing, although nobody concerned was erased',
};

/** @throws UsageError */
function linkOf(text: string | undefined): AuditLink | null {
  if (text === undefined) return null;
  const [, number, digest] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (digest === undefined) throw new UsageError('--known must be NUMBER:HASH, as printed by parley audit verify.');
  return { number: Number(number), digest };
}

export const AUDIT_COMMANDS: readonly Command[] = [
  realmCommand({
    name: 'audit verify',
    help: 'looks for changed and missing entries in the audit log of an organization',
    details:
      'Prints the number and hash of the last entry. Keep them outside of this machine: with --known, the command also ' +
      'finds a log that was replaced as a whole.',
    flags: {
      known: { value: 'NUMBER:HASH', help: 'entry that an earlier verification printed' },
    },
    examples: ['parley audit verify', 'parley audit verify --realm acme --json'],
    isReadOnly: always,
    input: ({ flag }) => linkOf(flag('known')),
    async run({ parley, realm }, known) {
      const { entries, erasedDetails, chain, findings } = await parley.useCase(VerifyAuditLog).execute(realm.id, known);
      const isFaultless = findings.length === 0;
      const removed = chain?.anchor.number ?? 0;
      return {
        lines: [
          ...findings.map(({ number, fault }) => `${number}: ${FAULTS[fault]}`),
          `${nameOf(realm)}: ${counted(entries, 'entry', 'entries')}, ${isFaultless ? 'unchanged' : 'with faults'}`,
          ...(removed > 0 ? [`Entries up to ${removed} were removed after their time.`] : []),
          ...(known && known.number < removed ? ['The entry of --known was removed after its time.'] : []),
          ...(erasedDetails > 0
            ? [`Details of erased people: missing from ${counted(erasedDetails, 'entry', 'entries')}`]
            : []),
          ...(chain ? [`Last entry: ${chain.last.number}:${chain.last.digest}`] : []),
        ],
        data: { entries, erasedDetails, removed, last: chain?.last ?? null, findings },
        exitCode: isFaultless ? EXIT_CODES.done : EXIT_CODES.found,
      };
    },
  }),
  realmCommand({
    name: 'audit export',
    words: 'FILE',
    help: 'writes the audit log of an organization to a CSV file',
    details: 'The server may be running.',
    examples: ['parley audit export audit.csv --realm=acme'],
    input: ({ word }) => requireNewFile(word(0)),
    async run({ parley, realm }, path) {
      let entries = 0;
      async function* csv() {
        yield Buffer.from(AUDIT_CSV_HEADER);
        for await (const page of parley.useCase(ReadAuditLog).execute(realm.id)) {
          entries += page.length;
          yield Buffer.from(page.map(auditCsvLine).join(''));
        }
      }
      await writeWhole(path, csv());
      return {
        lines: [`Exported ${counted(entries, 'entry', 'entries')} of ${nameOf(realm)} to ${path}`],
        data: { entries, file: path },
      };
    },
  }),
];
