import type { Ports } from '@parley/domain/composition';
import { ContainerModule } from 'inversify';
import { Injector } from '../kernel/injector.js';
import type { Resolve } from '../kernel/resolve.js';
import type { Get, ServerServices } from './services.js';

export type Services = Ports & ServerServices;

/** Parts of the container that a factory uses. */
export interface Parts {
  readonly get: Get;
  readonly resolve: Resolve;
}

/** One factory per service; called once, on first use. */
type Makers = { readonly [Name in keyof Services]: (parts: Parts) => Services[Name] };

/** Container module that provides the named services. Inversify refuses a name that two modules provide. */
export class Adapter<Name extends keyof Services> extends ContainerModule {
  readonly names: readonly (keyof Services)[];

  constructor(readonly makers: Pick<Makers, Name>) {
    super(({ bind }) => {
      let parts: Parts | undefined;
      for (const [name, make] of Object.entries(makers as Record<string, (parts: Parts) => unknown>)) {
        bind(name).toDynamicValue(({ get }) => {
          parts ??= get<Injector<Services>>(Injector);
          return make(parts);
        });
      }
    });
    this.names = Object.keys(makers) as Name[];
  }
}

type NameOf<Listed> = Listed extends Adapter<infer Name> ? Name : never;
type Missing<Listed extends readonly unknown[]> = Exclude<keyof Services, NameOf<Listed[number]>>;

/** The adapters themselves if they provide every service between them; otherwise the names of missing services. */
export type Complete<Listed extends readonly unknown[]> = [Missing<Listed>] extends [never]
  ? Listed
  : readonly Missing<Listed>[];
