import type { ContainerModuleLoadOptions, Newable, ServiceIdentifier } from 'inversify';

declare const tokenOf: unique symbol;

/** Stands for a port or a value where there is no class to name it by. */
export type Token<T> = symbol & { readonly [tokenOf]: T };

export function token<T>(name: string): Token<T> {
  return Symbol(name) as Token<T>;
}

export type Bind = ContainerModuleLoadOptions['bind'];

type Class<T> = abstract new (...args: never[]) => T;

declare const listOf: unique symbol;

/** Everything that is bound to a token, in the order of binding; see `all`. */
interface All<List> {
  readonly serviceIdentifier: symbol;
  readonly isMultiple: true;
  readonly optional: true;
  readonly [listOf]?: List;
}

type Dependency<T> = Token<T> | Class<T> | All<T>;

type DependenciesOf<Args extends readonly unknown[]> = { [K in keyof Args]: Dependency<Args[K]> };

/** As a dependency: a list of everything that is bound to the token, possibly empty. */
export const all = <T>(serviceIdentifier: Token<T>): All<readonly T[]> => ({
  serviceIdentifier,
  isMultiple: true,
  optional: true,
});

/**
 * Binds a class, once for the whole container, to be made of these dependencies; the compiler compares them with its
 * constructor. A parameter with a default may be left out unnoticed; an abstract class needs a token.
 */
export function provide<Args extends unknown[], T extends object>(
  bind: Bind,
  type: new (...args: Args) => T,
  ...dependencies: DependenciesOf<Args>
): void {
  // The compiler does not see that whatever takes `Args` may be looked up by a class that takes nothing it knows of.
  provideFrom(bind, type as unknown as Class<T>, (...args: Args) => new type(...args), ...dependencies);
}

/** The same for what a function makes. */
export function provideFrom<Args extends unknown[], T>(
  bind: Bind,
  id: Token<T> | Class<T>,
  make: (...args: Args) => T,
  ...dependencies: DependenciesOf<Args>
): void {
  bind(id as ServiceIdentifier<T>)
    .toResolvedValue((...args: unknown[]) => make(...(args as Args)), dependencies as Newable[])
    .inSingletonScope();
}

/** Binds what is there already. */
export function provideValue<T>(bind: Bind, id: Token<T>, value: T): void {
  bind(id as ServiceIdentifier<T>).toConstantValue(value);
}

/** Makes a token stand for what is bound to another identifier. */
export function provideAs<T>(bind: Bind, id: Token<T>, target: Token<T> | Class<T>): void {
  bind(id as ServiceIdentifier<T>).toService(target as ServiceIdentifier<T>);
}
