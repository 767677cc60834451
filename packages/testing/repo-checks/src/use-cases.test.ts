import { productSources } from './measures.js';
import { nodesOf, type SyntaxNode } from './source-code.js';

interface InjectedClass {
  readonly name: string;
  readonly dependencies: readonly string[];
  /** True if callers run it by `execute`. */
  readonly isUseCase: boolean;
}

const nameOf = (node: unknown): unknown => (node as SyntaxNode | null)?.value;

/** Returns the classes that the container creates. */
function injectedClassesOf(code: string): readonly InjectedClass[] {
  if (!code.includes('static readonly inject')) return [];
  return [...nodesOf(code)]
    .filter(({ type, identifier }) => type === 'ClassDeclaration' && identifier)
    .flatMap(({ identifier, body }): readonly InjectedClass[] => {
      const members = body as readonly SyntaxNode[];
      const inject = members.find(({ type, key }) => type === 'ClassProperty' && nameOf(key) === 'inject');
      if (!inject) return [];
      const isUseCase = members.some(({ type, key }) => type === 'ClassMethod' && nameOf(key) === 'execute');
      const list = (inject.value as SyntaxNode).expression as SyntaxNode;
      const elements = list.elements as readonly { readonly expression: SyntaxNode }[];
      const classes = elements.flatMap(({ expression }) =>
        expression.type === 'Identifier' ? [expression.value as string] : [],
      );
      return [{ name: nameOf(identifier) as string, dependencies: classes, isUseCase }];
    });
}

/** Chains of use cases, such as `SendAll → SendMessage`. */
function chainsIn(codes: readonly string[]): readonly string[] {
  const classes = codes.flatMap(injectedClassesOf);
  const useCases = new Set(classes.filter(({ isUseCase }) => isUseCase).map(({ name }) => name));
  return classes.flatMap(({ name, dependencies }) =>
    dependencies.filter((dependency) => useCases.has(dependency)).map((dependency) => `${name} → ${dependency}`),
  );
}

describe('use cases', () => {
  it('inject no other use case: shared steps are functions that take a unit of work, or a class without `execute`', () => {
    const rules = productSources().filter(({ packageName }) => packageName === 'domain' || packageName === 'transfer');
    expect(chainsIn(rules.map(({ text }) => text))).toEqual([]);
  });

  it('are found with their dependencies', () => {
    const sender = "class Send {\n  static readonly inject = ['clock', Sender] as const;\n  execute() {}\n}";
    const all = 'class SendAll {\n  static readonly inject = [Send, Sender] as const;\n  async execute() {}\n}';
    expect(chainsIn([sender, all])).toEqual(['SendAll → Send']);
  });
});
