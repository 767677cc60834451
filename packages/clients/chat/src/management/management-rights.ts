import type { Channel, GroupSetting, UserGroup } from '@parley/client';
import type { ChatState, Fields } from '../kernel/state.js';
import type { ChannelRow } from '../kernel/view-models.js';
import { isPermitted } from '../organization/organization.js';

type RealmPermission = Extract<keyof Fields, `realm_can_${string}` | 'realm_create_multiuse_invite_group'>;
type ChannelPermission = Extract<keyof Channel, `can_${string}_group`>;
type GroupPermission = Extract<keyof UserGroup, `can_${string}_group`>;

/** Actions the user may perform on a channel. */
export interface ChannelRights {
  /** Name, description, folder, archiving and permissions. */
  readonly edit: boolean;
  /** Privacy and the permissions that control access; stricter, so that nobody grants themselves access. */
  readonly editAccess: boolean;
  readonly editDeletion: boolean;
  readonly editTopics: boolean;
  readonly editRetention: boolean;
  readonly subscribe: boolean;
  readonly unsubscribe: boolean;
  readonly addOthers: boolean;
  readonly removeOthers: boolean;
  readonly seeSubscribers: boolean;
}

/** Actions the user may perform on a group. */
export interface GroupRights {
  readonly manage: boolean;
  readonly addMembers: boolean;
  readonly removeMembers: boolean;
  readonly join: boolean;
  readonly leave: boolean;
}

/** Actions the user may perform on a bot. */
export interface BotRights {
  /** Change name and key, and deactivate. */
  readonly administer: boolean;
  readonly reactivate: boolean;
}

/** Bot type that can only send messages (users §1.1). */
const INCOMING_WEBHOOK = 2;

/** Settings reserved for owners (docs/permissions.md). */
const BY_OWNERS = new Set([
  'authentication_methods',
  'can_create_groups',
  'can_invite_users_group',
  'can_manage_all_groups',
  'can_manage_billing_group',
  'create_multiuse_invite_group',
  'disallow_disposable_email_addresses',
  'emails_restricted_to_domains',
  'invite_required',
  'message_retention_days',
  'second_factor_required_for',
  'waiting_period_threshold',
]);

/** Server rules for channel, group and organization settings. Observed inside computations. */
export class ManagementRights {
  constructor(private readonly state: ChatState) {}

  get isAdmin(): boolean {
    return this.state.fields.get('is_admin') === true;
  }

  get isOwner(): boolean {
    return this.state.fields.get('is_owner') === true;
  }

  get isGuest(): boolean {
    return this.state.fields.get('is_guest') === true;
  }

  /** True if the user has an organization permission. */
  has(name: RealmPermission): boolean {
    const definitions = this.state.fields.get('server_supported_permission_settings')?.realm;
    const definition = definitions?.[name.slice('realm_'.length) as keyof typeof definitions];
    return isPermitted(this.state, this.state.fields.get(name) as GroupSetting | undefined, definition);
  }

  /** True if the user may change an organization setting, given by its API name. */
  changesRealm(name: string): boolean {
    return BY_OWNERS.has(name) ? this.isOwner : this.isAdmin;
  }

  mayCreate(privacy: ChannelRow['privacy']): boolean {
    const kind = privacy === 'web-public' ? 'web_public' : privacy;
    return this.state.fields.get(`can_create_${kind}_streams`) === true;
  }

  channel(id: number): ChannelRights {
    const known = this.state.channels.get(id);
    if (!known) return NO_CHANNEL_RIGHTS;
    const { channel, membership } = known;
    const { isAdmin, isGuest } = this;
    const isSubscribed = membership === 'subscribed';
    const isActive = !channel.is_archived;
    const has = (name: ChannelPermission) => this.hasIn(channel, name);
    const edit = isAdmin || has('can_administer_channel_group');
    const isLetIn = !isGuest && (has('can_add_subscribers_group') || has('can_subscribe_group'));
    const readsContent = isSubscribed || channel.is_web_public || (!isGuest && !channel.invite_only) || isLetIn;
    return {
      edit,
      editAccess: edit && readsContent,
      editDeletion: edit && (isAdmin || this.has('realm_can_set_delete_message_policy_group')),
      editTopics: edit && (isAdmin || this.has('realm_can_set_topics_policy_group')),
      editRetention: edit && this.isOwner,
      subscribe: isActive && !isSubscribed && !isGuest && readsContent,
      unsubscribe: isSubscribed,
      addOthers:
        isActive &&
        readsContent &&
        (edit || this.has('realm_can_add_subscribers_group') || has('can_add_subscribers_group')),
      removeOthers: isActive && (edit || (!isGuest && has('can_remove_subscribers_group'))),
      seeSubscribers: isAdmin || channel.is_web_public || !isGuest || isSubscribed,
    };
  }

  group(id: number): GroupRights {
    const group = this.state.groups.get(id);
    if (!group || group.is_system_group || this.isGuest) return NO_GROUP_RIGHTS;
    const definitions = this.state.fields.get('server_supported_permission_settings')?.group;
    const has = (name: GroupPermission) => isPermitted(this.state, group[name], definitions?.[name]);
    const manage = this.has('realm_can_manage_all_groups') || has('can_manage_group');
    const isActive = !group.deactivated;
    const isMember = group.members.includes(this.state.selfId);
    const addMembers = isActive && (manage || has('can_add_members_group'));
    const removeMembers = isActive && (manage || has('can_remove_members_group'));
    return {
      manage,
      addMembers,
      removeMembers,
      join: isActive && !isMember && (addMembers || has('can_join_group')),
      leave: isActive && isMember && (removeMembers || has('can_leave_group')),
    };
  }

  /** True if the user may deactivate a person, change their role and end their sessions. */
  administers(userId: number): boolean {
    return this.isAdmin && (this.isOwner || this.state.people.get(userId)?.user.is_owner !== true);
  }

  /** Controlling a bot grants the rights of its role, so ownership alone is not enough. */
  bot(id: number): BotRights {
    const { people, selfId } = this.state;
    const bot = people.get(id)?.user;
    const self = people.get(selfId)?.user;
    const administer =
      bot !== undefined && self !== undefined && (this.isAdmin || bot.bot_owner_id === selfId) && self.role <= bot.role;
    const mayCreate =
      this.has('realm_can_create_bots_group') ||
      (bot?.bot_type === INCOMING_WEBHOOK && this.has('realm_can_create_write_only_bots_group'));
    return { administer, reactivate: administer && mayCreate };
  }

  private hasIn(channel: Channel, name: ChannelPermission): boolean {
    const definitions = this.state.fields.get('server_supported_permission_settings')?.stream;
    return isPermitted(this.state, channel[name], definitions?.[name]);
  }
}

const NO_CHANNEL_RIGHTS: ChannelRights = {
  edit: false,
  editAccess: false,
  editDeletion: false,
  editTopics: false,
  editRetention: false,
  subscribe: false,
  unsubscribe: false,
  addOthers: false,
  removeOthers: false,
  seeSubscribers: false,
};
const NO_GROUP_RIGHTS: GroupRights = {
  manage: false,
  addMembers: false,
  removeMembers: false,
  join: false,
  leave: false,
};
