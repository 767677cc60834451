import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { packageFolder, parseWithOffsets, type SyntaxNode, sourcesOf } from '../source-code.js';
import { EQUIVALENTS, type Equivalent } from './equivalents.js';

/** Small change of one expression or statement of a rule. */
export interface RuleFault {
  /** Path relative to `domain/src`, and number within the file. */
  readonly id: string;
  /** Path relative to `domain/src`. */
  readonly source: string;
  readonly line: number;
  /** Source line in which the text begins, without indentation. */
  readonly code: string;
  readonly text: string;
  /** Null if the statement is left out. */
  readonly replacement: string | null;
}

const DOMAIN = join(packageFolder('domain'), 'src');
/** Sources of permissions, access, deletion, retention, moves, visitors, erasures and audiences of events; readers of imports. */
const RULE_SOURCES =
  /^(?!\.\.\/\.\.\/(?!moving\/import-plan\/)).*(-permissions|-access|\bdeletion|\bdeletion\.use-cases|(channel|group|message|user)-delivery|kernel\/delivery|writing\/holds(\.use-cases)?|writing\/(moves|move-parts)|token-scope|access-tokens(\.use-cases)?|closing(\.use-cases)?|visitors(\.use-cases)?|membership\/((owner-)?erasures(\.use-cases)?|merged-accounts))\.ts$/;

export const isRuleSource = (file: string): boolean => RULE_SOURCES.test(pathInDomain(file));

export const pathInDomain = (file: string): string => relative(DOMAIN, file);
const ruledSources = (): readonly string[] => [...sourcesOf('domain'), ...sourcesOf('import-plan')];

/** Faults of all rule sources. */
export function ruleFaults(): readonly RuleFault[] {
  return ruledSources()
    .filter(isRuleSource)
    .flatMap((file) => faultsIn(pathInDomain(file), readFileSync(file, 'utf8')));
}

/** Equivalents that describe this fault; no test can detect it, for the reason given. */
export const equivalentsOf = (fault: RuleFault): readonly Equivalent[] =>
  EQUIVALENTS.filter(
    ({ source, code, changes }) =>
      source === fault.source &&
      code === fault.code &&
      changes.some(([text, replacement]) => text === fault.text && replacement === fault.replacement),
  );

/** Test files named after the source, then those that import it. */
export function nearestSuites(source: string, sources = ruledSources()): readonly string[] {
  const name = basename(source, '.ts');
  const suites = sources.filter((file) => file.endsWith('.test.ts') && !OTHER_SUITES.has(pathInDomain(file)));
  const named = suites.filter(
    (file) => dirname(pathInDomain(file)) === dirname(source) && basename(file).startsWith(`${name}.`),
  );
  const importing = suites.filter((file) => readFileSync(file, 'utf8').includes(`/${name}.js'`));
  return [...new Set([...named, ...importing])];
}

/** Suites that test whole areas by chance, which is not a test of one rule. */
const OTHER_SUITES = new Set(['kernel/permission-laws.test.ts', 'kernel/event-hub.test.ts']);

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly replacements: readonly (string | null)[];
}

export function faultsIn(source: string, code: string): readonly RuleFault[] {
  return plan(source, code).flatMap(({ faults }) => faults);
}

/** Source code with all its faults, of which the global variable `plantedFault` selects one by its id. */
export function withFaults(source: string, code: string): string {
  const inserted: { at: number; isEnd: boolean; length: number; text: string }[] = [];
  for (const { start, end, faults } of plan(source, code)) {
    const length = end - start;
    const isStatement = faults[0]!.replacement === null;
    const before = isStatement
      ? `{ if (!isPlanted('${faults[0]!.id}')) `
      : `(${faults.map(({ id, replacement }) => `isPlanted('${id}') ? ${replacement} : `).join('')}(`;
    inserted.push({ at: start, isEnd: false, length, text: before });
    inserted.push({ at: end, isEnd: true, length, text: isStatement ? ' }' : '))' });
  }
  // Outer expressions start before inner ones, and end after them.
  inserted.sort(
    (a, b) => a.at - b.at || Number(b.isEnd) - Number(a.isEnd) || (a.isEnd ? a.length - b.length : b.length - a.length),
  );
  const bytes = Buffer.from(code);
  let result = PRELUDE;
  let from = 0;
  for (const { at, text } of inserted) {
    result += bytes.subarray(from, at).toString() + text;
    from = at;
  }
  return result + bytes.subarray(from).toString();
}

/** Ends loops that a fault made endless; they would hold the event loop, so that no timeout fires. */
const PRELUDE =
  "let plantedUses = 0; const isPlanted = (id: string) => { if ((globalThis as any).plantedFault !== id) return false; if (++plantedUses > 20000) throw new Error('Endless loop'); return true; }; ";

function plan(source: string, code: string): readonly (Edit & { readonly faults: readonly RuleFault[] })[] {
  const bytes = Buffer.from(code);
  const lines = code.split('\n');
  const lineOf = ({ start }: Edit) => bytes.subarray(0, start).toString().split('\n').length;
  let count = 0;
  return editsOf(code).map((edit) => ({
    ...edit,
    faults: edit.replacements.map((replacement) => ({
      id: `${source}#${++count}`,
      source,
      line: lineOf(edit),
      code: lines[lineOf(edit) - 1]!.trim(),
      text: bytes.subarray(edit.start, edit.end).toString(),
      replacement,
    })),
  }));
}

const ALLOWED = '{ allowed: true }';
const DENIED = "{ allowed: false, code: 'FAULT', message: '' }";
const NOBODY = "{ kind: 'nobody' }";
const REALM = "{ kind: 'realm' }";

/** Values of named constants. */
const CONSTANTS: Readonly<Record<string, string>> = { allowed: ALLOWED, nobody: NOBODY, wholeRealm: REALM };

/** Replacements of what a function with this declared type returns. */
const BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  boolean: ['true', 'false'],
  Decision: [ALLOWED, DENIED],
  Audience: [NOBODY, REALM],
};
/** Neutral elements of the operands. */
const NEUTRAL: Readonly<Record<string, string>> = { '&&': 'true', '||': 'false' };
const NEUTRAL_ARGUMENT: Readonly<Record<string, string>> = { all: ALLOWED, anyOf: NOBODY, allOf: REALM };
/** Functions that take the condition of a rule as their first argument. */
const TAKES_CONDITION = /^(denyIf|\w+Unless)$/;
export const LIMITS: Readonly<Record<string, string>> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
const COMPARISONS = new Set(['===', '!==', ...Object.keys(LIMITS)]);

function editsOf(code: string): readonly Edit[] {
  const { nodes, textOf, rangeOf } = parseWithOffsets(code);
  const edits = new Map<string, Edit>();
  const add = (node: SyntaxNode, ...replacements: (string | null)[]) => {
    const { start, end } = rangeOf(node);
    const key = `${start} ${end}`;
    const all = [...new Set([...(edits.get(key)?.replacements ?? []), ...replacements])];
    edits.set(key, {
      start,
      end,
      replacements: all.filter((text) => text !== textOf(node) && text !== CONSTANTS[textOf(node)]),
    });
  };

  const visit = (value: unknown, returned: readonly string[], isOperand: boolean): void => {
    if (Array.isArray(value)) {
      for (const each of value) visit(each, returned, false);
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    const node = value as SyntaxNode;
    if (!isOperand && isCondition(node)) add(node, 'true', 'false');
    let inside = returned;
    switch (node.type) {
      case 'IfStatement':
      case 'ConditionalExpression':
        add(node.test as SyntaxNode, 'true', 'false');
        break;
      case 'BinaryExpression':
        addOperator(node);
        break;
      case 'CallExpression':
        addArguments(node);
        break;
      case 'KeyValueProperty':
        if ((node.key as SyntaxNode).value === 'audience') add(node.value as SyntaxNode, NOBODY, REALM);
        break;
      case 'ExpressionStatement': {
        const { type, argument } = node.expression as SyntaxNode;
        const called = type === 'AwaitExpression' ? (argument as SyntaxNode).type : type;
        if (called === 'CallExpression') add(node, null);
        break;
      }
      case 'ReturnStatement':
        if (node.argument) addReturned(node.argument as SyntaxNode, returned);
        break;
      case 'ArrowFunctionExpression':
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ClassMethod':
      case 'MethodProperty': {
        const { returnType = null, body } = (node.type === 'ClassMethod' ? node.function : node) as SyntaxNode;
        inside = replacementsFor(returnType as SyntaxNode | null);
        const { type } = (body ?? node) as SyntaxNode;
        if (node.type === 'ArrowFunctionExpression' && !/Block|Body/.test(type))
          addReturned(body as SyntaxNode, inside);
        break;
      }
    }
    for (const [name, part] of Object.entries(node)) {
      if (name === 'span') continue;
      visit(part, inside, node.type === 'ParenthesisExpression' ? isOperand : takesConditions(node));
    }
  };

  const addOperator = (node: SyntaxNode) => {
    const operator = node.operator as string;
    const [left, right] = [node.left, node.right] as SyntaxNode[];
    if (operator in NEUTRAL) {
      for (const operand of [left!, right!]) {
        if (operand.type !== 'BinaryExpression' || operand.operator !== operator) add(operand, NEUTRAL[operator]!);
      }
    }
    if (operator in LIMITS && textOf(right!) !== '0')
      add(node, `${textOf(left!)} ${LIMITS[operator]} ${textOf(right!)}`);
  };
  const addArguments = (node: SyntaxNode) => {
    const { value: name, type } = node.callee as SyntaxNode;
    if (type !== 'Identifier' || typeof name !== 'string') return;
    const parts = (node.arguments as { spread: unknown; expression: SyntaxNode }[])
      .filter(({ spread }) => !spread)
      .map(({ expression }) => expression);
    if (name in NEUTRAL_ARGUMENT) for (const part of parts) add(part, NEUTRAL_ARGUMENT[name]!);
    if (TAKES_CONDITION.test(name) && parts[0]) add(parts[0], 'true', 'false');
    if (name === 'except') add(node, textOf(parts[0]!));
    if (name === 'users') add(node, NOBODY);
  };
  const addReturned = (node: SyntaxNode, replacements: readonly string[]) => {
    const value = node.type === 'ParenthesisExpression' ? (node.expression as SyntaxNode) : node;
    if (value.type !== 'ConditionalExpression') add(value, ...replacements);
  };

  visit(nodes, [], false);
  return [...edits.values()].filter(({ replacements }) => replacements.length > 0);
}

function takesConditions({ type, operator }: SyntaxNode): boolean {
  return type === 'UnaryExpression' ? operator === '!' : type === 'BinaryExpression' && (operator as string) in NEUTRAL;
}

function isCondition({ type, operator }: SyntaxNode): boolean {
  if (type === 'UnaryExpression') return operator === '!';
  return type === 'BinaryExpression' && (COMPARISONS.has(operator as string) || (operator as string) in NEUTRAL);
}

/** Reads `boolean`, `Decision` and promises of them. */
function replacementsFor(annotation: SyntaxNode | null): readonly string[] {
  const type = annotation?.typeAnnotation as SyntaxNode | undefined;
  if (type?.type === 'TsKeywordType') return BY_TYPE[type.kind as string] ?? [];
  if (type?.type !== 'TsTypeReference') return [];
  const name = (type.typeName as SyntaxNode).value as string;
  if (name !== 'Promise') return BY_TYPE[name] ?? [];
  const [inner] = ((type.typeParams as SyntaxNode | undefined)?.params ?? []) as SyntaxNode[];
  return replacementsFor(inner ? { type: 'TsTypeAnnotation', typeAnnotation: inner } : null);
}
