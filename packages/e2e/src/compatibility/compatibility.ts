import { CONTRACT_OPERATIONS, type ContractOperation, createRoutes, type RouteDependencies } from '@parley/http';

type Status = 'whole' | 'partial' | 'absent';

/** Generates docs/compatibility.md: contract operations with and without routes. */
export function renderCompatibility(): string {
  const count = (status: Status) => CONTRACT_OPERATIONS.filter((operation) => statusOf(operation) === status).length;
  const areas = [...new Set(CONTRACT_OPERATIONS.map(areaOf))];
  return [
    '# Compatibility',
    '<!-- Made by `npm run compatibility` from packages/http/src/contract-operations.ts and the route table. -->',
    [
      `Of the operations that the [contract](contract/README.md) describes: built as a whole ${count('whole')}, in part ${count('partial')},`,
      `absent ${count('absent')}. ★ marks the twenty that were asked for first. Paths count from \`/api/v1\`, or, where they begin with`,
      '`//`, from the address of the server. An operation that is absent answers 404, or 405 where its path has another method.',
    ].join('\n'),
    ...areas.map(renderArea),
    '',
  ].join('\n\n');
}

function renderArea(area: string): string {
  const rows = CONTRACT_OPERATIONS.filter((operation) => areaOf(operation) === area).map(renderRow);
  const title = `${area[0]!.toUpperCase()}${area.slice(1)}`;
  return [`## ${title}`, '', '| Operation | Section | Status |', '|---|---|---|', ...rows].join('\n');
}

function renderRow(operation: ContractOperation): string {
  const { method, path, atRoot, section, isStarred, lacks } = operation;
  const status = statusOf(operation);
  const name = `\`${method} ${atRoot ? '/' : ''}${path}\`${isStarred ? ' ★' : ''}`;
  return `| ${name} | ${section} | ${status === 'partial' ? `partial: ${lacks}` : status} |`;
}

function statusOf(operation: ContractOperation): Status {
  if (!ROUTES.has(keyOf(operation))) return 'absent';
  return operation.lacks === null ? 'whole' : 'partial';
}

const areaOf = ({ section }: ContractOperation): string => section.split(' ')[0]!;

/** Key that ignores names of path parameters. */
const keyOf = ({ method, path, atRoot }: Pick<ContractOperation, 'method' | 'path' | 'atRoot'>): string =>
  `${method} ${atRoot} ${path.replace(/:\w+_id\b/g, ':id').replace(/([:*])(?!id\b)\w+/g, '$1text')}`;

/** Dependencies are only used by requests, so none are needed here. */
const ROUTES: ReadonlySet<string> = new Set(createRoutes({} as RouteDependencies).map(keyOf));

/** Notes on missing parts of operations that are missing entirely. */
export const pointlessNotes = (): readonly string[] =>
  CONTRACT_OPERATIONS.filter((it) => it.lacks !== null && statusOf(it) === 'absent').map(
    (it) => `${it.method} ${it.path}`,
  );

/** Routes below `/api/v1` that are not in the contract. */
export function unknownRoutes(): readonly string[] {
  const known = new Set(CONTRACT_OPERATIONS.map(keyOf));
  return [...ROUTES].filter((key) => key.includes(' false ') && !known.has(key));
}
