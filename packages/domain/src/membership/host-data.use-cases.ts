import { type Actor, isAdministrator } from '../access/actor.js';
import { loadChannel, visibleChannels } from '../channels/channel-access.js';
import { metadataUsers } from '../channels/channel-delivery.js';
import { canChangeChannel } from '../channels/channel-permissions.js';
import { type DataValidator, requireFittingData } from '../kernel/data-schemas.js';
import { type Audience, wholeRealm } from '../kernel/event.js';
import {
  changeHostData,
  type DataOwnerIds,
  type DataOwnerKind,
  type DataOwnerRef,
  type HostData,
  type JsonObject,
  NO_HOST_DATA,
  parseHostData,
} from '../kernel/host-data.js';
import type { Caller, ChannelId, MessageId, RealmId, UserId } from '../kernel/ids.js';
import { type Decision, denyIf, enforce } from '../kernel/permission.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { listReadableEntries, loadReadable } from '../messages/load-access.js';
import type { Message } from '../messages/message.js';
import { messageWatchers } from '../messages/message-delivery.js';
import { inaccessibleUserIds } from '../users/accessible-users.js';
import { accessorsOf } from '../users/user-delivery.js';
import { getHostUser } from './host-users.js';

/** Reads data of the host application. Checks no permissions. */
export class GetHostData {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Objects without data are absent. */
  execute<K extends DataOwnerKind>(
    realmId: RealmId,
    kind: K,
    ids: readonly DataOwnerIds[K][],
  ): Promise<ReadonlyMap<DataOwnerIds[K], HostData>> {
    return this.uow.read(realmId, ({ hostData }) => hostData.list(realmId, kind, ids));
  }
}

export interface ListVisibleDataInput {
  readonly kind: DataOwnerKind;
  readonly ids: readonly number[];
}

/** Lists data of objects that the caller can see. */
export class ListVisibleData {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Objects without data, unknown ones and hidden ones are absent. */
  execute(caller: Caller, { kind, ids }: ListVisibleDataInput): Promise<ReadonlyMap<number, HostData>> {
    return this.uow.read(caller.realmId, async (reads) => {
      const actor = await reads.actors.get(caller);
      const visible = await visibleIds(reads, actor, kind, [...new Set(ids)]);
      return reads.hostData.list(caller.realmId, kind, visible as never);
    });
  }
}

async function visibleIds(
  reads: Repositories,
  actor: Actor,
  kind: DataOwnerKind,
  ids: readonly number[],
): Promise<readonly number[]> {
  const { realmId } = actor;
  switch (kind) {
    case 'message': {
      const entries = await listReadableEntries(reads, actor, ids as readonly MessageId[], []);
      return entries.map(({ id }) => id);
    }
    case 'channel': {
      return (await visibleChannels(reads, actor, ids as readonly ChannelId[])).map(({ id }) => id);
    }
    case 'user': {
      const realm = await reads.realms.get(realmId);
      const hidden = await inaccessibleUserIds(reads, actor, realm, ids as readonly UserId[]);
      return ids.filter((id) => !hidden.has(id as UserId));
    }
    default:
      return ids.filter((id) => id === realmId);
  }
}

/** Object to change. Permissions of a caller apply to messages and channels; the host application changes the others. */
export type ChangedDataOwner =
  | (Extract<DataOwnerRef, { kind: 'message' | 'channel' }> & { readonly caller: Caller })
  | (Extract<DataOwnerRef, { kind: 'user' | 'realm' }> & { readonly realmId: RealmId });

export interface SetHostDataInput {
  readonly owner: ChangedDataOwner;
  /** Replaces the former data; `{}` removes it. */
  readonly data: unknown;
  /** Version that the caller has read; absent to replace any. */
  readonly expectedVersion?: number;
}

/** Checks data of an object that will be created, so that nothing is created for data that is refused. */
export class CheckHostData {
  static readonly inject = ['unitOfWork', 'dataValidator'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly validator: DataValidator,
  ) {}

  /** @throws DomainError DATA_SCHEMA_MISMATCH */
  execute(realmId: RealmId, kind: DataOwnerKind, data: JsonObject): Promise<void> {
    return this.uow.read(realmId, (reads) => requireFittingData(reads, this.validator, realmId, kind, data));
  }
}

/** Replaces the data that the host application keeps with an object. */
export class SetHostData {
  static readonly inject = ['unitOfWork', 'dataValidator'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly validator: DataValidator,
  ) {}

  /**
   * Writes nothing if the data is the same. Returns the data with its version.
   * @throws DomainError INVALID_DATA, DATA_SCHEMA_MISMATCH, DATA_VERSION_CONFLICT; for messages UNKNOWN_MESSAGE,
   * CANNOT_CHANGE_DATA; for channels UNKNOWN_CHANNEL, CANNOT_ADMINISTER_CHANNEL; UNKNOWN_USER, UNKNOWN_REALM
   */
  execute({ owner, data: given, expectedVersion }: SetHostDataInput): Promise<HostData> {
    const data = parseHostData(given);
    const realmId = 'caller' in owner ? owner.caller.realmId : owner.realmId;
    return this.uow.write(realmId, async (tx) => {
      const audience = await audienceOf(tx, owner);
      await requireFittingData(tx, this.validator, realmId, owner.kind, data);
      const found: ReadonlyMap<number, HostData> = await tx.hostData.list(realmId, owner.kind, [owner.id]);
      const former = found.get(owner.id) ?? NO_HOST_DATA;
      const changed = changeHostData(former, data, expectedVersion);
      if (changed === former) return former;
      const { kind, id } = owner;
      const ref = { kind, id } as DataOwnerRef;
      await tx.hostData.put(realmId, ref, changed);
      await tx.events.append(realmId, {
        event: { type: 'data.changed', owner: ref, version: changed.version },
        audience,
      });
      return changed;
    });
  }
}

/** Returns the users who can see the object, after checking that it exists and may be changed. */
async function audienceOf(tx: Transaction, owner: ChangedDataOwner): Promise<Audience> {
  switch (owner.kind) {
    case 'message': {
      const actor = await tx.actors.get(owner.caller);
      const { message, channel } = await loadReadable(tx, actor, owner.id, { modifying: true });
      enforce(canChangeMessageData(actor, message));
      return messageWatchers(message, channel);
    }
    case 'channel': {
      const actor = await tx.actors.get(owner.caller);
      return metadataUsers((await loadChannel(tx, actor, owner.id, canChangeChannel)).channel);
    }
    case 'user':
      return accessorsOf((await getHostUser(tx, owner.realmId, { userId: owner.id })).id);
    default:
      await tx.realms.get(owner.realmId);
      return wholeRealm;
  }
}

/** Text limits of editing do not apply, because the data is the application's. */
export const canChangeMessageData = (
  actor: Pick<Actor, 'id' | 'role'>,
  { senderId }: Pick<Message, 'senderId'>,
): Decision =>
  denyIf(
    senderId !== actor.id && !isAdministrator(actor),
    'CANNOT_CHANGE_DATA',
    'Only the sender and administrators can change the data of a message.',
  );
