import type { Channel, GroupSetting, Subscription } from '@parley/client';
import type { Gateway } from '../kernel/ports.js';
import type { ChatState } from '../kernel/state.js';
import { ManagementRights } from './management-rights.js';

/** Values by API setting name. */
export type Changes = Readonly<Record<string, unknown>>;

/** Settings of one object, read from the state and saved through the API. */
export interface SettingsSource {
  /** Key that is unique in the organization. */
  readonly key: string;
  /** Observed inside computations. */
  read(name: string): unknown;
  /**
   * Rejects with the error; the new value arrives as an event. `seen`: displayed values, if a previous change has not
   * arrived yet.
   */
  save(changes: Changes, seen?: Changes): Promise<unknown>;
  /** Observed inside computations. */
  mayEdit(name: string): boolean;
}

/** Channel privacy. In `protected` channels people read only messages sent while they were subscribed. */
export type Privacy = 'web-public' | 'public' | 'private' | 'protected';

const PRIVACY: Readonly<Record<Privacy, Changes>> = {
  'web-public': { is_web_public: true, is_private: false, history_public_to_subscribers: true },
  public: { is_web_public: false, is_private: false, history_public_to_subscribers: true },
  private: { is_web_public: false, is_private: true, history_public_to_subscribers: true },
  protected: { is_web_public: false, is_private: true, history_public_to_subscribers: false },
};
const ACCESS = new Set(['privacy', 'can_add_subscribers_group', 'can_subscribe_group']);
const DELETION = new Set(['can_delete_any_message_group', 'can_delete_own_message_group']);

export const privacyOf = (channel: Channel): Privacy => {
  if (channel.is_web_public) return 'web-public';
  if (!channel.invite_only) return 'public';
  return channel.history_public_to_subscribers ? 'private' : 'protected';
};

/** Settings of the user, the organization, channels and groups. Loaded only by management pages. */
export class Management {
  readonly rights: ManagementRights;

  constructor(
    readonly state: ChatState,
    /** Operations without optimistic updates are called directly. */
    readonly api: Gateway,
  ) {
    this.rights = new ManagementRights(state);
  }

  /** The user's own settings. */
  readonly personal: SettingsSource = {
    key: 'personal',
    read: (name) => this.state.fields.get('user_settings')?.[name as 'timezone'],
    save: (changes) => this.api.patch('/settings', changes),
    mayEdit: () => true,
  };

  /** Default settings of new accounts. */
  readonly defaults: SettingsSource = {
    key: 'defaults',
    read: (name) => this.state.fields.get('realm_user_settings_defaults')?.[name as 'web_home_view'],
    save: (changes) => this.api.patch('/realm/user_settings_defaults', changes),
    mayEdit: () => this.rights.isAdmin,
  };

  readonly realm: SettingsSource = {
    key: 'realm',
    read: (name) => this.realmField(name, 'get'),
    save: (changes, seen) =>
      this.api.patch(
        '/realm',
        guarded(changes, (name) => seen?.[name] ?? this.realmField(name, 'peek')),
      ),
    mayEdit: (name) => this.rights.changesRealm(name),
  };

  channel(id: number): SettingsSource {
    return {
      key: `channel ${id}`,
      read: (name) => {
        const channel = this.state.channels.get(id)?.channel;
        if (!channel) return undefined;
        return name === 'privacy' ? privacyOf(channel) : channel[name as keyof Channel];
      },
      save: ({ name, privacy, ...changes }, seen) =>
        this.api.patch('/streams/{stream_id}', {
          stream_id: id,
          ...guarded(
            changes,
            (setting) => seen?.[setting] ?? this.state.channels.peek(id)?.channel[setting as keyof Channel],
          ),
          ...(name !== undefined && { new_name: name as string }),
          ...(privacy !== undefined && PRIVACY[privacy as Privacy]),
        }),
      mayEdit: (name) => {
        const rights = this.rights.channel(id);
        if (ACCESS.has(name)) return rights.editAccess;
        if (DELETION.has(name)) return rights.editDeletion;
        if (name === 'topics_policy') return rights.editTopics;
        return name === 'message_retention_days' ? rights.editRetention : rights.edit;
      },
    };
  }

  /** The user's settings of a subscribed channel. */
  membership(id: number): SettingsSource {
    return {
      key: `membership ${id}`,
      read: (name) => this.state.channels.get(id)?.own?.[name as keyof Subscription & 'color'],
      save: (changes) =>
        this.api.post('/users/me/subscriptions/properties', {
          subscription_data: Object.entries(changes).map(([property, value]) => ({ stream_id: id, property, value })),
        } as never),
      mayEdit: () => true,
    };
  }

  group(id: number): SettingsSource {
    return {
      key: `group ${id}`,
      read: (name) => this.state.groups.get(id)?.[name as 'name'],
      save: (changes, seen) =>
        this.api.patch('/user_groups/{user_group_id}', {
          user_group_id: id,
          ...guarded(changes, (name) => seen?.[name] ?? this.state.groups.peek(id)?.[name as 'name']),
        }),
      mayEdit: () => this.rights.group(id).manage,
    };
  }

  /** Subscribes the user or other people. */
  async subscribe(channelId: number, userIds: readonly number[] = [this.state.selfId]): Promise<void> {
    const name = this.state.channels.peek(channelId)?.channel.name ?? '';
    await this.api.post('/users/me/subscriptions', { subscriptions: [{ name }], principals: userIds });
  }

  /** Unsubscribes the user or other people. */
  async unsubscribe(channelId: number, userIds: readonly number[] = [this.state.selfId]): Promise<void> {
    const name = this.state.channels.peek(channelId)?.channel.name ?? '';
    await this.api.delete('/users/me/subscriptions', { subscriptions: [name], principals: userIds });
  }

  /** Creates a channel with the user's choice of settings; returns its id. */
  async createChannel({ privacy, ...settings }: Changes & { readonly privacy: Privacy }): Promise<number> {
    const { is_private: invite_only, ...access } = PRIVACY[privacy];
    const { id } = await this.api.post('/channels/create', { ...settings, ...access, invite_only } as never);
    return id;
  }

  /**
   * Fetches all subscribers of a channel, since the register response may contain only some; events keep them current.
   */
  async loadSubscribers(channelId: number): Promise<void> {
    const { subscribers } = await this.api.get('/streams/{stream_id}/members', { stream_id: channelId });
    this.state.subscribers.set(channelId, subscribers);
  }

  private realmField(name: string, access: 'get' | 'peek'): unknown {
    const isBare = name === 'max_file_upload_size_mib';
    return this.state.fields.table[access]((isBare ? name : `realm_${name}`) as 'realm_name');
  }
}

/** Adds the displayed value to changed permissions, so that the server rejects the change if it was overwritten. */
function guarded(changes: Changes, current: (name: string) => unknown): Changes {
  return Object.fromEntries(
    Object.entries(changes).map(([name, value]) => [
      name,
      isPermission(name) ? { new: value as GroupSetting, old: current(name) as GroupSetting } : value,
    ]),
  );
}

export const isPermission = (name: string): boolean =>
  name.endsWith('_group') || /^can_(create|manage_all)_groups$/.test(name);
