import { type LedgerLine, printable } from '@parley/transfer/records';
import type { PlanSummary } from './plan.js';
import type { ReportedMembers } from './plan-members.js';

/** Maximum number of listed people, channels and mappings in the text. */
const MAX_LISTED = 50;

/** Maximum number of people in a line. */
const MAX_NAMES = 10;

/** Returns the report as lines of text. */
export function reportLines(summary: PlanSummary): readonly string[] {
  const { ledger, notes, renamedChannels, unusedMappings, lateMappings } = summary;
  return [
    `Source: ${printable(summary.source)}`,
    `Organization: ${summary.organization}`,
    `People: ${summary.accounts} with an account, ${summary.placeholders} who cannot log in (${summary.strangers} without a record)`,
    ...(summary.claimable === 0
      ? []
      : [`Accounts at the first log-in: ${summary.claimable} of those who cannot log in`]),
    `Channels: ${summary.channels}, direct conversations: ${summary.conversations}`,
    `Messages: ${summary.messages}, files of the source: ${summary.files} (${summary.fileBytes} bytes)`,
    ...(summary.deleted === 0 ? [] : [`Messages of earlier imports that the source deleted: ${summary.deleted}`]),
    '',
    `Records: ${summary.records}, all accounted for`,
    ...ledger.map(ledgerLine),
    ...section(
      'In messages',
      Object.entries(notes).map(([what, count]) => `${count} ${what}`),
    ),
    ...section(
      'Channels with another name',
      renamedChannels.map(({ from, to }) => `${printable(from)} → ${to}`),
    ),
    ...section('Members of earlier imported channels', summary.members.map(membersLine)),
    ...section('Members of earlier imported groups', summary.groupMembers.map(membersLine)),
    ...section(
      'Rows of the mapping file that match nobody, or several people',
      unusedMappings.map(({ person }) => printable(person)),
    ),
    ...section(
      'Rows of the mapping file for placeholders of earlier imports, which only a merge changes',
      lateMappings.map(({ placeholder, email }) => `parley imports merge ${placeholder} ${printable(email)}`),
    ),
    ...section(
      'Messages of earlier imports that are missing in damaged or missing parts of the export, and stay',
      summary.keptMissing.map(
        ({ channel, reason, messages }) =>
          `${messages} in ${printable(channel || 'direct messages')}: ${printable(reason)}`,
      ),
    ),
    ...section(
      'People who can read new messages although they left the source, are guests there, or were never in it',
      summary.readers.map(printable),
    ),
    '',
    ...outsiderLines(summary),
  ];
}

function outsiderLines({ outsiders, isPublicRestricted, readers }: PlanSummary): readonly string[] {
  const reason = `${outsiders} members of the organization could not read them in the source`;
  if (outsiders > 0 && !isPublicRestricted) return [`New public channels stay public, although ${reason}.`];
  return [
    ...(outsiders > 0
      ? [`New public channels become private, because ${reason}; --share-public keeps them public.`]
      : []),
    `Nobody${readers.length > 0 ? ' else' : ''} gains access to a conversation by the import.`,
  ];
}

function membersLine({ name, becomesPrivate, joined, left, kept }: ReportedMembers): string {
  const parts = [
    ...(becomesPrivate ? ['becomes private'] : []),
    ...namesPart('joined', joined),
    ...namesPart('left', left),
    ...namesPart('left, but stay because people added them in Parley', kept),
  ];
  return `${printable(name)}: ${parts.join('; ')}`;
}

function namesPart(what: string, names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  return [`${what}: ${names.slice(0, MAX_NAMES).join(', ')}${more}`];
}

function ledgerLine({ kind, outcome, reason, count, examples }: LedgerLine): string {
  const why = reason === '' ? '' : `: ${printable(reason)}`;
  const such =
    outcome === 'dropped' || outcome === 'waiting' ? ` (for example ${examples.map(printable).join(', ')})` : '';
  return `  ${kind}: ${count} ${outcome}${why}${such}`;
}

function section(title: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  const more = lines.length > MAX_LISTED ? [`  and ${lines.length - MAX_LISTED} more`] : [];
  return ['', `${title}:`, ...lines.slice(0, MAX_LISTED).map((line) => `  ${line}`), ...more];
}
