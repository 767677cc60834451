import { Container, type ServiceIdentifier } from 'inversify';
import { accountsModule } from './modules/accounts.module.js';
import { alertWordsModule } from './modules/alert-words.module.js';
import { authenticationModule } from './modules/authentication.module.js';
import { botsModule } from './modules/bots.module.js';
import { channelsModule } from './modules/channels.module.js';
import { deliveryModule } from './modules/delivery.module.js';
import { draftsModule } from './modules/drafts.module.js';
import { eventsModule } from './modules/events.module.js';
import { exportsModule } from './modules/exports.module.js';
import { facadeModule } from './modules/facade.module.js';
import { filesModule } from './modules/files.module.js';
import { groupsModule } from './modules/groups.module.js';
import { hostUsersModule } from './modules/host-users.module.js';
import { httpModule } from './modules/http.module.js';
import { invitationsModule } from './modules/invitations.module.js';
import { messagesModule } from './modules/messages.module.js';
import { mutedUsersModule } from './modules/muted-users.module.js';
import { navigationViewsModule } from './modules/navigation-views.module.js';
import { onboardingModule } from './modules/onboarding.module.js';
import { optionsModule } from './modules/options.module.js';
import { picturesModule } from './modules/pictures.module.js';
import { presenceModule } from './modules/presence.module.js';
import { pushModule } from './modules/push.module.js';
import { reactionsModule } from './modules/reactions.module.js';
import { realmsModule } from './modules/realms.module.js';
import { schedulingModule } from './modules/scheduling.module.js';
import { snippetsModule } from './modules/snippets.module.js';
import { statusesModule } from './modules/statuses.module.js';
import { usersModule } from './modules/users.module.js';
import { workersModule } from './modules/workers.module.js';
import type { ParleyParts } from './parley-parts.js';
import type { Token } from './provide.js';
import type { Resolve } from './resolve.js';
import { TOKENS } from './tokens.js';

type Implemented<T> = T extends Token<infer Port> ? Port : never;

/** Something for each port. */
export type Ports = { readonly [Name in keyof typeof TOKENS]: Implemented<(typeof TOKENS)[Name]> };

/** Their order is that of the lists they bind to: keys are forgotten before clients get the event. */
const USE_CASE_MODULES = [
  authenticationModule,
  accountsModule,
  botsModule,
  channelsModule,
  eventsModule,
  exportsModule,
  filesModule,
  groupsModule,
  hostUsersModule,
  invitationsModule,
  messagesModule,
  picturesModule,
  presenceModule,
  pushModule,
  reactionsModule,
  schedulingModule,
  alertWordsModule,
  draftsModule,
  mutedUsersModule,
  navigationViewsModule,
  onboardingModule,
  snippetsModule,
  realmsModule,
  statusesModule,
  usersModule,
];

function resolverOf(container: Container): Resolve {
  // There is one instance of each, for good; the container takes longer to find it than many a use case to look it up.
  const resolved = new Map<unknown, unknown>();
  const resolve: Resolve = (type) => {
    try {
      const instance = container.get(type as ServiceIdentifier<never>);
      resolved.set(type, instance);
      return instance;
    } catch (error) {
      if (container.isBound(type as ServiceIdentifier<never>)) throw error;
      throw new Error(
        `This engine has no ${type.name}. Where it is a use case, it comes from another copy of Parley: import it from ` +
          'the package that createParley comes from, and see with `npm ls` why there are two.',
        { cause: error },
      );
    }
  };
  return (type) => (resolved.get(type) as never) ?? resolve(type);
}

/** Every use case over these ports. */
export function compose(ports: Ports): Resolve {
  const container = new Container();
  for (const name of Object.keys(TOKENS) as (keyof Ports)[]) {
    container.bind(TOKENS[name] as ServiceIdentifier<unknown>).toConstantValue(ports[name]);
  }
  container.load(...USE_CASE_MODULES);
  return resolverOf(container);
}

/** A whole server; nothing of it is made before it is asked for. */
export class ServerContainer {
  readonly resolve: Resolve;
  private readonly container = new Container();

  constructor(options: ParleyParts) {
    this.resolve = resolverOf(this.container);
    this.container.load(
      optionsModule(options, this.resolve),
      ...USE_CASE_MODULES,
      deliveryModule,
      httpModule(options),
      workersModule(options),
      facadeModule,
    );
  }

  get<T>(id: Token<T>): T {
    return this.container.get(id as ServiceIdentifier<T>);
  }

  /** Empty when nothing is bound to it. */
  list<T>(id: Token<T>): readonly T[] {
    return this.container.getAll(id as ServiceIdentifier<T>);
  }

  /** What use cases are made of. */
  ports(): Ports {
    const names = Object.keys(TOKENS) as (keyof Ports)[];
    return Object.fromEntries(names.map((name) => [name, this.get(TOKENS[name] as Token<unknown>)])) as Ports;
  }
}
