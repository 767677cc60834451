import type { Role } from '@parley/domain/access';
import { CreateChannel, DEFAULT_CHANNEL_OPTIONS, SubscribeUsers } from '@parley/domain/channels';
import type { ChannelId, RealmId, UserId } from '@parley/domain/kernel';
import { CreateRealm } from '@parley/domain/log-in';
import { RegisterUser } from '@parley/domain/membership';
import type { User } from '@parley/domain/users';
import { SendMessage } from '@parley/domain/writing';
import { createParley, type Parley } from '@parley/server';
import { SECRET } from '../harness/parley-server.js';

const CLIENT_NAME = 'website';
/** Concurrent transactions share a commit. */
const AT_A_TIME = 500;

export interface Person {
  readonly id: UserId;
  readonly email: string;
}

/** Organization built with the regular use cases. */
export class World {
  private constructor(
    private readonly parley: Parley,
    readonly realmId: RealmId,
  ) {}

  /** `secret`: null to store it in a file next to the database, where a server finds it. */
  static async found(database: string, secret: string | null = SECRET): Promise<World> {
    const parley = await createParley({
      database: `sqlite:${database}`,
      url: 'http://localhost',
      ...(secret !== null && { secret }),
      // Otherwise nobody could create thousands of channels per day.
      rateLimits: false,
    });
    const realm = await parley.useCase(CreateRealm).execute({ stringId: 'bench', name: 'Bench' });
    return new World(parley, realm.id);
  }

  /** Adds members who log in without a password, ascending by id. */
  async addPeople(count: number): Promise<readonly Person[]> {
    const people: User[] = [];
    for (let from = 1; from <= count; from += AT_A_TIME) {
      const numbers = Array.from({ length: Math.min(AT_A_TIME, count - from + 1) }, (_, n) => from + n);
      people.push(...(await Promise.all(numbers.map((number) => this.addPerson(number)))));
    }
    return people.map(({ id, email }) => ({ id, email })).sort((a, b) => a.id - b.id);
  }

  /** Adds an owner who logs in without a password. */
  async addOwner(): Promise<Person> {
    return this.addPerson(0, 'owner');
  }

  /** Adds an owner who logs in with a password. */
  async addReader(password: string, email?: string): Promise<Person> {
    return this.addPerson(0, 'owner', password, email);
  }

  private addPerson(
    number: number,
    role: Role = 'member',
    password: string | null = null,
    email = `person${number}@example.com`,
  ): Promise<User> {
    return this.parley.useCase(RegisterUser).execute({
      realmId: this.realmId,
      email,
      fullName: `Person Number ${number}`,
      role,
      password,
    });
  }

  /** Adds a public channel with one message by its first subscriber. */
  async addChannel(name: string, subscribers: readonly Person[]): Promise<ChannelId> {
    const caller = { realmId: this.realmId, userId: subscribers[0]!.id, clientName: CLIENT_NAME };
    const id = await this.parley.useCase(CreateChannel).execute(caller, {
      ...DEFAULT_CHANNEL_OPTIONS,
      name,
      description: `What ${name} is about`,
      subscriberIds: subscribers.map((person) => person.id),
      announce: false,
    });
    await this.parley.useCase(SendMessage).execute(caller, {
      to: { kind: 'channelId', id },
      topic: 'beginning',
      content: 'Welcome.',
      isReadBySender: true,
      echo: null,
    });
    return id;
  }

  /** Adds public channels with one subscriber and without messages by people. */
  async addEmptyChannels(names: readonly string[], subscriber: Person): Promise<void> {
    const caller = { realmId: this.realmId, userId: subscriber.id, clientName: CLIENT_NAME };
    for (let from = 0; from < names.length; from += AT_A_TIME) {
      const channels = names.slice(from, from + AT_A_TIME).map((name) => ({ name, color: null, description: '' }));
      await this.parley.useCase(SubscribeUsers).execute(caller, {
        channels,
        principals: null,
        options: DEFAULT_CHANNEL_OPTIONS,
        announce: false,
        failsOnInaccessible: true,
        notifyNewSubscribers: false,
      });
    }
  }

  close(): Promise<void> {
    return this.parley.close();
  }
}
