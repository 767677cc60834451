import {
  checkDataKeys,
  compareDataKeys,
  type DataFilter,
  type DataKeyDeclaration,
  type FilteredKind,
  parseDataFilter,
} from '../kernel/data-keys.js';
import { type DataSchemaDeclaration, type DataValidator, declarationProblem } from '../kernel/data-schemas.js';
import { DomainError } from '../kernel/errors.js';
import type { RealmId } from '../kernel/ids.js';
import type { ReportProblem } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { lastOf } from '../kernel/work.js';

/** Rows per unit, so that others wait for a few milliseconds only. */
const AT_ONCE = 200;

export interface DataDeclaration {
  readonly keys: readonly DataKeyDeclaration[];
  /** Schemas, one or none for each kind. */
  readonly schemas: readonly DataSchemaDeclaration[];
}

/** Declares the schemas of data and the keys by which objects can be filtered, and indexes existing data. */
export class DeclareData {
  static readonly inject = ['unitOfWork', 'dataValidator'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly validator: DataValidator,
  ) {}

  /**
   * Replaces the declared keys and schemas. Existing data need not fit the schemas. Ends when existing data is indexed;
   * the next call continues interrupted work.
   * @throws DomainError INVALID_DATA_KEY, INVALID_DATA_SCHEMA, UNKNOWN_REALM
   */
  async execute(realmId: RealmId, { keys, schemas }: DataDeclaration): Promise<void> {
    checkDataKeys(keys);
    for (const each of schemas) {
      const problem = declarationProblem(each, this.validator);
      if (problem !== null) throw new DomainError('INVALID_DATA_SCHEMA', problem);
    }
    await this.uow.write(realmId, async (tx) => {
      await tx.realms.get(realmId);
      const { added, removed } = compareDataKeys(await tx.dataKeys.list(realmId), keys);
      for (const { id } of removed) await tx.dataKeys.remove(realmId, id);
      for (const key of added) await tx.dataKeys.add(realmId, key);
      await declareSchemas(tx, realmId, schemas);
    });
    while (await this.uow.write(realmId, ({ dataKeys }) => dataKeys.removeSome(realmId, AT_ONCE)));
    while (await this.uow.write(realmId, ({ dataKeys }) => dataKeys.indexSome(realmId, AT_ONCE)));
  }
}

async function declareSchemas(
  { dataSchemas }: Transaction,
  realmId: RealmId,
  schemas: readonly DataSchemaDeclaration[],
): Promise<void> {
  const former = await dataSchemas.list(realmId);
  for (const { id, kind } of former) {
    if (!schemas.some((each) => each.kind === kind)) await dataSchemas.remove(realmId, id);
  }
  for (const { kind, schema } of schemas) {
    const declared = former.find((each) => each.kind === kind);
    if (!declared) await dataSchemas.add({ realmId, kind, schema });
    else if (declared.schema !== schema) await dataSchemas.update({ ...declared, schema });
  }
}

/** Reports stored schemas that no application could declare now, which earlier versions accepted. */
export class ReportUnsupportedSchemas {
  static readonly inject = ['unitOfWork', 'dataValidator', 'report'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly validator: DataValidator,
    private readonly report: ReportProblem,
  ) {}

  async execute(): Promise<void> {
    for (const { id, stringId } of await this.uow.readAcross(({ realms }) => realms.list())) {
      for (const stored of await this.uow.read(id, ({ dataSchemas }) => dataSchemas.list(id))) {
        const problem = declarationProblem(stored, this.validator);
        if (problem === null) continue;
        const message = 'a stored schema is not supported: such data is not checked until it is declared again';
        this.report(message, { organization: stringId, problem }, 'warn');
      }
    }
  }
}

/** Number of index entries per filter and read. */
const PAGE = 500;

/** Finds objects by values of declared keys, page by page. Checks no permissions. */
export class FindByData {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * Yields the ascending ids of the objects that match all filters, of which there is at least one.
   * @throws DomainError INVALID_DATA_FILTER
   */
  async *execute(
    realmId: RealmId,
    kind: FilteredKind,
    filters: readonly string[],
  ): AsyncGenerator<readonly number[], void> {
    const keys = await this.uow.read(realmId, ({ dataKeys }) => dataKeys.list(realmId));
    const wanted = filters.map((each) => parseDataFilter(keys, kind, each));
    for (let after: number | null = 0; after !== null; ) {
      const { ids, next } = commonIds(await this.pagesAfter(realmId, wanted, after));
      if (ids.length > 0) yield ids;
      after = next;
    }
  }

  private pagesAfter(realmId: RealmId, filters: readonly DataFilter[], after: number) {
    return this.uow.read(realmId, async ({ dataKeys }) => {
      const pages: (readonly number[])[] = [];
      for (const filter of filters) pages.push(await dataKeys.listObjects(realmId, filter, after, PAGE));
      return pages;
    });
  }
}

/**
 * Intersects pages that start at the same id. `next` skips ids up to the next possible match, so that a rare value
 * bounds the reads of frequent ones; it is null at the end.
 */
function commonIds(pages: readonly (readonly number[])[]): { ids: readonly number[]; next: number | null } {
  const end = Math.min(...pages.map((page) => (page.length < PAGE ? Number.POSITIVE_INFINITY : lastOf(page))));
  const [first, ...others] = pages.map((page) => new Set(page.filter((id) => id <= end)));
  const ids = [...first!].filter((id) => others.every((other) => other.has(id)));
  const later = pages.map((page) => page.find((id) => id > end));
  const isOver = pages.some((page, index) => page.length < PAGE && later[index] === undefined);
  return { ids, next: isOver ? null : Math.max(end, ...later.map((id) => (id ?? 0) - 1)) };
}
