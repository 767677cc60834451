import type { ContainerModuleLoadOptions, Newable, ServiceIdentifier } from 'inversify';

declare const tokenOf: unique symbol;

/** Stands for a port or a value where there is no class to name it by. */
export type Token<T> = symbol & { readonly [tokenOf]: T };

export function token<T>(name: string): Token<T> {
  return Symbol(name) as Token<T>;
}

export type Bind = ContainerModuleLoadOptions['bind'];

type DependenciesOf<Args extends readonly unknown[]> = {
  [K in keyof Args]: Token<Args[K]> | (new (...args: never[]) => Args[K]);
};

/**
 * Binds a class, once for the whole container, to be made of these dependencies; the compiler compares them with its
 * constructor. A parameter with a default may be left out unnoticed; an abstract class needs a token.
 */
export function provide<Args extends unknown[], T extends object>(
  bind: Bind,
  type: new (...args: Args) => T,
  ...dependencies: DependenciesOf<Args>
): void {
  bind(type as Newable<T>)
    .toResolvedValue((...args: unknown[]) => new type(...(args as Args)), dependencies as ServiceIdentifier[])
    .inSingletonScope();
}
