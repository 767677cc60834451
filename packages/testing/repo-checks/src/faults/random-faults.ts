import { createHash } from 'node:crypto';
import { transformSync } from 'esbuild';
import { productSources } from '../measures.js';
import { type CodeWithOffsets, nodesIn, parseWithOffsets, type SyntaxNode, shownPath } from '../source-code.js';
import { LIMITS, pathInDomain, type RuleFault } from './rule-faults.js';

/** Fault of any use case, rule, storage or operation, made without regard to what tests look at. */
export interface RandomFault extends RuleFault {
  readonly kind: string;
  readonly replacement: string;
  readonly path: string;
  /** Path after the name of the package. */
  readonly file: string;
  /** Returns the source code with the fault. */
  planted(): string;
}

const SOURCES =
  /^(domain|storage|sqlite|http)\/src\/(?!.*(texts|words|names|\.sql|testing\/|\/index\.ts|\/features\.ts))/;

/** Change of the text of a node, and the part that it replaces. */
type Change = readonly [node: SyntaxNode, text: string, replacement: string];
type Maker = (node: SyntaxNode, textOf: (node: SyntaxNode) => string) => readonly Change[];

const propertyOf = (callee: SyntaxNode): unknown => (callee.property as SyntaxNode | undefined)?.value;

/** Makers by kind. A replacement in parentheses differs from those of the faults of rules. */
const MAKERS: Readonly<Record<string, Maker>> = {
  'negated condition': (node, textOf) =>
    node.type === 'IfStatement' || node.type === 'ConditionalExpression'
      ? [whole(node.test as SyntaxNode, textOf, (text) => `!(${text})`)]
      : [],
  'dropped conjunct': (node, textOf) => operands(node, ['&&', '||'], textOf),
  'other limit': (node, textOf) => {
    const other = node.type === 'BinaryExpression' && LIMITS[node.operator as string];
    if (!other) return [];
    return [
      whole(node, textOf, () => `(${textOf(node.left as SyntaxNode)} ${other} ${textOf(node.right as SyntaxNode)})`),
    ];
  },
  'dropped filter': (node, textOf) => {
    const callee = node.callee as SyntaxNode | undefined;
    if (node.type !== 'CallExpression' || propertyOf(callee!) !== 'filter') return [];
    return [whole(node, textOf, () => `(${textOf(callee!.object as SyntaxNode)})`)];
  },
  'dropped SQL condition': (node, textOf) => {
    if (node.type !== 'StringLiteral' && node.type !== 'TemplateElement') return [];
    const conditions = textOf(node).matchAll(/\bAND ([\w.+]+ (?:[<>=!]+|IS|IS NOT|&) (?:\?|NULL|[\w.]+))(?![\w.+*(])/g);
    // The number of parameters stays.
    return [...conditions].map(([text, condition]) => [node, text, condition!.endsWith('?') ? 'AND ? IS NOT 0.5' : '']);
  },
  'first element only': (node, textOf) => {
    const body = node.body as SyntaxNode | undefined;
    if (node.type !== 'ForOfStatement') return [];
    const end =
      body!.type === 'BlockStatement' ? textOf(body!).replace(/\}$/, 'break; }') : `{ ${textOf(body!)} break; }`;
    return [whole(body!, textOf, () => end)];
  },
  'off by one': (node, textOf) => {
    if (node.type === 'VariableDeclarator') {
      const limit = node.init as SyntaxNode | null;
      if (!/^[A-Z_]+$/.test(String((node.id as SyntaxNode).value)) || limit?.type !== 'NumericLiteral') return [];
      return [whole(limit, textOf, (text) => `(${text} + 1)`), whole(limit, textOf, (text) => `(${text} - 1)`)];
    }
    const right = node.right as SyntaxNode | undefined;
    if (node.type !== 'BinaryExpression' || !'+-'.includes(node.operator as string) || textOf(right!) !== '1')
      return [];
    return [whole(node, textOf, () => `(${textOf(node.left as SyntaxNode)})`)];
  },
  'dropped event': (node, textOf) =>
    node.type === 'ExpressionStatement' && /^await [^;]*(events\.append|[pP]ublish\w*)\(/.test(textOf(node))
      ? [whole(node, textOf, () => ';')]
      : [],
  'dropped statement': (node, textOf) =>
    node.type === 'ExpressionStatement' && /^(await )?[\w.]+\(/.test(textOf(node))
      ? [whole(node, textOf, () => ';')]
      : [],
  'other branch of ??': (node, textOf) => operands(node, ['??'], textOf),
};

const whole = (node: SyntaxNode, textOf: (node: SyntaxNode) => string, change: (text: string) => string): Change => [
  node,
  textOf(node),
  change(textOf(node)),
];

function operands(
  node: SyntaxNode,
  operators: readonly string[],
  textOf: (node: SyntaxNode) => string,
): readonly Change[] {
  if (node.type !== 'BinaryExpression' || !operators.includes(node.operator as string)) return [];
  return [node.left, node.right].map((side) => whole(node, textOf, () => `(${textOf(side as SyntaxNode)})`));
}

/** Faults of all kinds, as many of each kind; those that do not compile are left out. */
export function randomFaults(seed: number, count: number, among = allRandomFaults()): readonly RandomFault[] {
  const order = ({ id }: RandomFault) => createHash('sha256').update(`${seed} ${id}`).digest('hex');
  const kinds = Object.keys(MAKERS);
  const shuffled = new Map(kinds.map((kind) => [kind, [] as { fault: RandomFault; at: string }[]]));
  for (const fault of among) shuffled.get(fault.kind)!.push({ fault, at: order(fault) });
  for (const faults of shuffled.values()) faults.sort((a, b) => (a.at < b.at ? 1 : -1));
  const chosen: RandomFault[] = [];
  const hasMore = () => [...shuffled.values()].some((faults) => faults.length > 0);
  for (let n = 0; chosen.length < count && hasMore(); n++) {
    const next = shuffled.get(kinds[n % kinds.length]!)!.pop();
    if (next && compiles(next.fault.planted())) chosen.push(next.fault);
  }
  return chosen;
}

export const allRandomFaults = (): readonly RandomFault[] =>
  productSources()
    .filter(({ file }) => SOURCES.test(shownPath(file)))
    .flatMap(({ file, text }) => randomFaultsIn(file, text));

export function randomFaultsIn(path: string, code: string): readonly RandomFault[] {
  const parsed: CodeWithOffsets = parseWithOffsets(code);
  const bytes = Buffer.from(code);
  const [file, source] = [shownPath(path), pathInDomain(path)];
  const lines = code.split('\n');
  let count = 0;
  return [...nodesIn(parsed.nodes)].flatMap((node) =>
    Object.entries(MAKERS).flatMap(([kind, make]) =>
      make(node, parsed.textOf).map(([changed, text, replacement]): RandomFault => {
        const { start, end } = parsed.rangeOf(changed);
        const inside = bytes.subarray(start, end).toString();
        const at = bytes.subarray(0, start).toString() + inside.slice(0, inside.indexOf(text));
        const [from, line] = [at.length, at.split('\n').length];
        return {
          ...{ id: `${file}#${kind}#${++count}`, kind, path, file, source, line, code: lines[line - 1]!.trim() },
          ...{ text, replacement, planted: () => code.slice(0, from) + replacement + code.slice(from + text.length) },
        };
      }),
    ),
  );
}

function compiles(code: string): boolean {
  try {
    transformSync(code, { loader: 'ts' });
    return true;
  } catch {
    return false;
  }
}
