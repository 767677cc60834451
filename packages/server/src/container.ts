import { Container, type ServiceIdentifier } from 'inversify';
import { authenticationModule } from './modules/authentication.module.js';
import { channelsModule } from './modules/channels.module.js';
import { eventsModule } from './modules/events.module.js';
import { groupsModule } from './modules/groups.module.js';
import { messagesModule } from './modules/messages.module.js';
import { realmsModule } from './modules/realms.module.js';
import { usersModule } from './modules/users.module.js';
import type { Token } from './provide.js';
import { TOKENS } from './tokens.js';

type Implemented<T> = T extends Token<infer Port> ? Port : never;

/** Something for each port. */
export type Ports = { readonly [Name in keyof typeof TOKENS]: Implemented<(typeof TOKENS)[Name]> };

/** Answers the one instance of a class that a module binds: a use case, mostly. */
export type Resolve = <T>(type: abstract new (...dependencies: never[]) => T) => T;

/** Every use case over these ports. */
export function compose(ports: Ports): Resolve {
  const container = new Container();
  for (const name of Object.keys(TOKENS) as (keyof Ports)[]) {
    container.bind(TOKENS[name] as ServiceIdentifier<unknown>).toConstantValue(ports[name]);
  }
  container.load(
    authenticationModule,
    channelsModule,
    eventsModule,
    groupsModule,
    messagesModule,
    realmsModule,
    usersModule,
  );
  return (type) => container.get(type as ServiceIdentifier<never>);
}
