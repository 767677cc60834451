import type { Ports } from '@parley/domain/composition';
import { domainPorts } from './domain-ports.js';
import { Injector, type Makers, type Resolve } from './injector.js';
import type { ParleyParts } from './parley-parts.js';
import type { Get, RunningParts } from './running-parts.js';
import { serverParts } from './server-parts.js';

/** Creates a resolver of every use case over these ports. */
export function compose(ports: Ports): Resolve {
  const makers = Object.entries(ports).map(([name, port]) => [name, () => port]);
  return new Injector<Ports>(() => Object.fromEntries(makers) as Makers<Ports>).resolve;
}

/** A whole server; no part of it is constructed before it is needed. */
export class ServerContainer {
  readonly get: Get;
  readonly resolve: Resolve;
  private readonly portNames: readonly (keyof Ports)[];

  constructor(options: ParleyParts) {
    let ports!: Makers<Ports>;
    const { get, resolve } = new Injector<Ports & RunningParts>((injector) => {
      ports = domainPorts(options, injector.get, injector.resolve);
      return { ...ports, ...serverParts(options, injector.get, injector.resolve) };
    });
    this.get = get;
    this.resolve = resolve;
    this.portNames = Object.keys(ports) as (keyof Ports)[];
  }

  /** Ports that use cases are constructed from. */
  ports(): Ports {
    return Object.fromEntries(this.portNames.map((name) => [name, this.get(name)])) as unknown as Ports;
  }
}
