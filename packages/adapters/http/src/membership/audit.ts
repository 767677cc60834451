import type { UserId } from '@parley/domain/kernel';
import { type AuditFilter, ListAuditEntries, type StoredAuditEntry } from '@parley/domain/membership';
import type { HttpFeature } from '../declarations/feature.js';
import { type Route, route } from '../declarations/route.js';
import { definedFields, IntegerParam, TextParam } from '../params/params.js';
import * as wire from '../wire/schema.js';

const MAX_PER_PAGE = 500;

class AuditFilterDto {
  @IntegerParam({ optional: true, description: 'Only entries of this user.' }) actor_id?: number;
  @IntegerParam({ optional: true, description: 'Only entries about this user.' }) user_id?: number;
  @TextParam({ optional: true, max: 200, description: 'Only entries of this operation, such as `PATCH /realm`.' })
  action?: string;
  @IntegerParam({ optional: true, min: 0, description: 'Earliest time in Unix seconds.' }) since?: number;
  @IntegerParam({ optional: true, min: 0, description: 'Latest time in Unix seconds.' }) until?: number;
}

class ListAuditDto extends AuditFilterDto {
  @IntegerParam({ optional: true, min: 0, description: 'Only entries with lower ids, for the next page.' })
  before?: number;
  @IntegerParam({ min: 1, max: MAX_PER_PAGE, description: 'Maximum number of entries.' }) limit = 100;
}

const ENTRY = wire.named(
  'AuditEntry',
  wire.fields({
    id: wire.integer(),
    time: wire.integer(),
    actor_id: wire.nullable(wire.integer()),
    program: wire.nullable(wire.text()),
    action: wire.text(),
    user_id: wire.nullable(wire.integer()),
    target: wire.anything(),
    changes: wire.anything(),
    details: wire.anything(),
    is_erased: wire.boolean(),
    hash: wire.text(),
  }),
);

/** Presents an entry; a damaged part is shown as its text. */
const presentEntry = (entry: StoredAuditEntry) => ({
  id: entry.number,
  time: entry.at,
  actor_id: entry.actorId,
  program: entry.program,
  action: entry.action,
  user_id: entry.subjectId,
  target: jsonOf(entry.target),
  changes: jsonOf(entry.changes),
  details: entry.detail && jsonOf(entry.detail.content),
  is_erased: entry.detailDigest !== null && entry.detail === null,
  hash: entry.digest,
});

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const filterOf = ({ actor_id, user_id, action, since, until }: AuditFilterDto): AuditFilter =>
  definedFields({ actorId: actor_id as UserId, subjectId: user_id as UserId, action, since, until });

export const AUDIT_CSV_HEADER = 'id,time,actor_id,program,action,user_id,target,changes,details,erased,hash\r\n';

/** Characters that begin a cell or a formula in a spreadsheet: separators other than the comma, signs after a space. */
const UNSAFE = /[;|\t]|(?<= )[=+@-]/g;

/** Escapes as in JSON, so that texts keep their value whatever separator the reader assumes. */
const cell = (value: string | number | null): string => {
  const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const text = String(value ?? '').replace(UNSAFE, escaped);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Returns the line of an entry in a CSV file. */
export function auditCsvLine(entry: StoredAuditEntry): string {
  const { number, at, actorId, program, action, subjectId, target, changes, detail, detailDigest, digest } = entry;
  const erased = detailDigest !== null && detail === null ? 'yes' : '';
  const time = new Date(at * 1000).toISOString();
  const cells = [number, time, actorId, program, action, subjectId, target, changes, detail?.content ?? null];
  return `${[...cells, erased, digest].map(cell).join(',')}\r\n`;
}

/** Yields the lines of all entries, newest first. Each page checks the rights of the caller again. */
async function* csvLines(list: (before?: number) => Promise<readonly StoredAuditEntry[]>) {
  let page = await list();
  while (page.length > 0) {
    yield page.map(auditCsvLine);
    page = page.length < MAX_PER_PAGE ? [] : await list(page.at(-1)!.number);
  }
}

const auditRoutes = (): readonly Route[] => [
  route('GET', '/audit', {
    summary: 'List entries of the audit log',
    extension: 'extensions §13',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['owner'],
    dto: ListAuditDto,
    useCase: ListAuditEntries,
    toInput: ({ before, limit, ...filter }) => ({ ...filterOf(filter), ...definedFields({ before }), limit }),
    response: wire.fields({ entries: wire.listOf(ENTRY) }),
    present: (entries) => ({ entries: entries.map(presentEntry) }),
  }),
  route('GET', '/audit/csv', {
    summary: 'Download the audit log as a CSV file',
    extension: 'extensions §13',
    withoutPage: 'addresses',
    // Pages link to the address, which frames load with their token.
    sessions: 'everywhere',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['owner'],
    isExpensive: true,
    dto: AuditFilterDto,
    useCase: ListAuditEntries,
    response: 'bytes',
    contentType: 'application/octet-stream',
    handle: async ({ caller, dto, useCase }) => ({
      status: 200,
      contentType: 'application/octet-stream',
      headers: ['Content-Disposition', 'attachment; filename="audit.csv"'],
      body: {
        start: [AUDIT_CSV_HEADER],
        rest: csvLines((before) =>
          useCase.execute(caller, { ...filterOf(dto), ...definedFields({ before }), limit: MAX_PER_PAGE }),
        ),
        end: '',
      },
    }),
  }),
];

export const AUDIT = { tag: 'Organization', routes: auditRoutes } satisfies HttpFeature;
