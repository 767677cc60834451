import type { DraftId } from '@parley/domain/kernel';
import {
  ChangeDraft,
  type ChangeDraftInput,
  CreateDrafts,
  DeleteDraft,
  type Draft,
  type DraftEventTypes,
  type DraftInput,
  ListDrafts,
  loadDrafts,
  mustSynchronizeDrafts,
} from '@parley/domain/writing';
import type { HttpFeature } from '../declarations/feature.js';
import { WireList } from '../declarations/personal-list.js';
import { type RoleRequirement, route } from '../declarations/route.js';
import type { Presenters } from '../delivery/event-presenter.js';
import {
  float,
  integer,
  listOf,
  MAX_IDS,
  MAX_JSON_LENGTH,
  MAX_NAMES,
  MAX_TEXT_LENGTH,
  MAX_TIME,
  type ObjectOf,
  object,
  oneOf,
  optional,
  text,
} from '../params/param-types.js';
import { IntegerParam, param } from '../params/params.js';
import * as wire from '../wire/schema.js';
import { CONTENT } from './message.dtos.js';

const SHAPE = {
  type: oneOf(['private', 'stream', '']),
  to: listOf(integer(), { max: MAX_IDS }),
  topic: text({ max: MAX_TEXT_LENGTH }),
  content: text({ ...CONTENT, notBlank: true }),
  timestamp: optional(float({ max: MAX_TIME })),
};
type WireDraft = ObjectOf<typeof SHAPE>;
const draftParameter = object(SHAPE);

export class CreateDraftsDto {
  @param(listOf(draftParameter, { max: MAX_NAMES, jsonLength: MAX_JSON_LENGTH }), { description: 'Drafts to create.' })
  drafts!: WireDraft[];
}

export class ChangeDraftDto {
  @IntegerParam() draft_id!: number;
  @param(draftParameter, { description: 'New properties of the draft.' }) draft!: WireDraft;
}

const KINDS = { private: 'direct', stream: 'channel', '': 'nobody' } as const;

const toDraftInput = ({ type, to, topic, content, timestamp }: WireDraft): DraftInput => ({
  kind: KINDS[type],
  to,
  topic,
  content,
  editedAt: timestamp ?? null,
});

export const toCreateDraftsInput = ({ drafts }: CreateDraftsDto): readonly DraftInput[] => drafts.map(toDraftInput);

export const toChangeDraftInput = (dto: ChangeDraftDto): ChangeDraftInput => ({
  id: dto.draft_id as DraftId,
  draft: toDraftInput(dto.draft),
});

const mustSynchronize: RoleRequirement = ({ synchronizesDrafts }) =>
  mustSynchronizeDrafts({ settings: { enableDraftsSynchronization: synchronizesDrafts } });

const LIST = new WireList<Draft>({
  name: 'drafts',
  element: 'draft',
  noun: 'draft',
  addsLists: true,
  section: 'users §17',
  roleRequirements: [mustSynchronize],
  schema: wire.named(
    'Draft',
    wire.fields({
      id: wire.integer(),
      type: wire.oneOf('stream', 'private', ''),
      to: wire.listOf(wire.integer()),
      topic: wire.text(),
      content: wire.text(),
      timestamp: wire.integer(),
    }),
  ),
  present: ({ id, to, content, editedAt }) => ({
    id,
    ...presentAddressee(to),
    content,
    timestamp: Math.floor(editedAt),
  }),
});

function presentAddressee(to: Draft['to']) {
  switch (to.kind) {
    case 'channel':
      return { type: 'stream', to: [to.channelId], topic: to.topic };
    case 'direct':
      return { type: 'private', to: to.userIds, topic: '' };
    case 'nobody':
      return { type: '', to: [], topic: '' };
  }
}

export const DRAFTS = {
  tag: 'Drafts, snippets and schedules',
  routes: () => [
    LIST.listRoute(ListDrafts, { count: 'count' }),
    route('POST', '/drafts', {
      summary: 'Create drafts',
      section: 'users §17',
      auth: 'user',
      scope: 'account',
      roleRequirements: [mustSynchronize],
      dto: CreateDraftsDto,
      useCase: CreateDrafts,
      toInput: toCreateDraftsInput,
      response: wire.fields({ ids: wire.listOf(wire.integer()) }),
      present: (ids) => ({ ids }),
    }),
    LIST.changeRoute(ChangeDraft, ChangeDraftDto, toChangeDraftInput),
    LIST.deleteRoute(DeleteDraft),
  ],
  events: {
    'draft.added': LIST.added(({ drafts }) => drafts),
    'draft.changed': LIST.changed(({ draft }) => draft),
    'draft.removed': LIST.removed(),
  } satisfies Presenters<keyof DraftEventTypes>,
  errors: { UNKNOWN_DRAFT: { status: 404 } },
  registerSections: () => [LIST.registerSection(loadDrafts)],
} satisfies HttpFeature;
