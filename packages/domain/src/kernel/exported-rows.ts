import { byId, type IdKind, type PersonPart, type RealmPart } from './export-parts.js';
import type { ExportedRows, NewRow, RealmRows, RowRules, UserRow, UserRows } from './rows.js';
import * as shape from './shape.js';

/** Part of exports with declared rows, under the name of their repository. */
type RowsPart = PersonPart & Pick<RealmPart, 'namesChannels' | 'rewriteTexts'>;

/** Returns null for rows that exports do not contain. */
export function partOfRows(name: string, { kind: rowKind, exported }: RowRules): RowsPart | null {
  if (!exported) return null;
  // Rows of a realm have no user.
  const { noun, max, covered, imported, added, rewritten, ...rules } = exported as ExportedRows<UserRow>;
  const kind = rules.idKind ?? (rowKind as IdKind);
  const rowsOf = (reads: object) => (reads as Readonly<Record<string, RealmRows<UserRow> & UserRows<UserRow>>>)[name]!;
  const rowsIn = (copy: object) => (copy as Readonly<Record<string, readonly UserRow[]>>)[name]!;
  return {
    none: { [name]: [] },
    idKinds: [kind],
    shapes: { [name]: shape.list(shape.object({ id: shape.anyId, ...rules.shape }), max) },
    ...(rules.namesChannels && { namesChannels: true }),
    idsOf: (copy) => ({ [kind]: rowsIn(copy).map(({ id }) => id) }),
    async read(reads, { realmId, userId }, scope) {
      const rows = await rowsOf(reads).list(realmId, userId);
      return { [name]: byId(covered ? rows.flatMap((row) => covered(row, scope) ?? []) : rows) };
    },
    async add(tx, owner, copy, ids) {
      await ids.addAll(tx, kind, noun, rowsIn(copy), async (copied, reserved) => {
        const { id: _, ...fields } = { ...copied, ...owner, ...imported?.(copied, ids) };
        const row = await rowsOf(tx).add(fields as NewRow<UserRow>, reserved);
        await added?.(tx, row);
        return row;
      });
    },
    async rewriteTexts(tx, copy, ids) {
      for (const row of rowsIn(copy)) {
        const texts = rewritten?.(row, ids.rewriter);
        if (!texts) continue;
        const present = await rowsOf(tx).find(ids.realmId, ids.lastOf(kind).get(row.id));
        await rowsOf(tx).update({ ...present!, ...texts });
      }
    },
  };
}
