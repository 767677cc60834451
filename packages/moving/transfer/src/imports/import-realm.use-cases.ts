import { beginBatch, type ImportBatch } from '@parley/domain/exports';
import {
  type DataValidator,
  DomainError,
  type ExportParts,
  type ImportedIdMap,
  type RealmCopy,
  type RealmId,
  type RecipientId,
  recordOf,
  type Transaction,
  type UserId,
} from '@parley/domain/kernel';
import { checkNewRealm } from '@parley/domain/log-in';
import {
  callOffDeletion,
  DeleteRealmData,
  type LinkifierSyntax,
  mapChannelSettings,
  planDeletion,
  REALM_IMAGE_NAMES,
  type Realm,
  type RealmImage,
  type RealmImages,
  type ServerAddress,
  takesServerAddress,
  unreachableStringId,
} from '@parley/domain/realms';
import type { ImportSource } from '../exports/realm-copy.js';
import { CreatedRecords, rememberExport } from './created-records.js';
import { IdMap, ImportedIds, TopicLinks } from './import-ids.js';
import { rememberMembers } from './import-members.js';
import { FileImport, MessageImport } from './import-messages.js';
import { ImportedPictures, PeopleImport, PictureImport } from './import-people.js';
import { ImportPorts } from './import-ports.js';
import { StructureImport } from './import-structure.js';
import { OrdinalRuns } from './ordinal-runs.js';
import { permittedCopy } from './permitted-copy.js';

export interface ImportRealmInput {
  readonly source: ImportSource;
  /** Null keeps the original value. */
  readonly stringId: string | null;
  /** Called periodically with the number of imported messages. */
  readonly onProgress?: (messages: number) => void;
  /** Called before the organization becomes reachable; an error removes it. */
  readonly verify?: (imported: ImportedRealm) => Promise<void>;
}

/** Complete organization that is still unreachable. */
export interface ImportedRealm {
  readonly realmId: RealmId;
  readonly counts: Omit<ImportRealmOutput, 'realm' | 'dropped'>;
  readonly users: ImportedIdMap<UserId>;
  readonly recipients: ImportedIdMap<RecipientId>;
}

export interface ImportRealmOutput {
  readonly realm: Realm;
  readonly users: number;
  readonly channels: number;
  readonly messages: number;
  readonly files: number;
  /** Files with bytes missing in the export; links to them in messages are broken. */
  readonly missingFiles: number;
  /** Number of imported custom emoji, avatars, icons and logos. */
  readonly pictures: number;
  /** Pictures with bytes that are missing in the export or cannot be displayed. */
  readonly missingPictures: number;
  /** Parts of the export that only the operator grants, or that Parley does not accept. */
  readonly dropped: readonly string[];
}

/** Time after which the remains of a crashed import are removed. */
const ABANDONED_SECONDS = 86_400;

/**
 * Creates an organization from an export, for the operator. The organization is unreachable until the import is
 * complete, and a failure removes it. Ids are kept if free; on a new server, all are.
 */
export class ImportRealm {
  static readonly inject = [
    ImportPorts,
    'serverAddress',
    DeleteRealmData,
    'exportParts',
    'dataValidator',
    'linkifierSyntax',
  ] as const;
  constructor(
    private readonly ports: ImportPorts,
    private readonly server: ServerAddress,
    private readonly deletion: DeleteRealmData,
    private readonly parts: ExportParts,
    private readonly validator: DataValidator,
    private readonly linkifierSyntax: LinkifierSyntax,
  ) {}

  /** @throws DomainError INVALID_IMPORT, INVALID_STRING_ID, STRING_ID_TAKEN, INVALID_REALM_NAME, NO_ADDRESS_LEFT */
  async execute(input: ImportRealmInput): Promise<ImportRealmOutput> {
    const { source, stringId: given, onProgress = () => {}, verify = async () => {} } = input;
    const stringId = given ?? source.realm.realm.stringId;
    checkNewRealm({ stringId, name: source.realm.realm.name });
    const { copy, dropped } = permittedCopy(source.realm, this.validator, this.linkifierSyntax);
    const realmId = await this.ports.uow.writeAcross(async (tx) => {
      const realms = await tx.realms.list();
      takesServerAddress(stringId, realms, this.server);
      if (realms.some((realm) => realm.stringId === stringId)) {
        throw new DomainError(
          'STRING_ID_TAKEN',
          'Subdomain is already in use. An export of Parley or Zulip becomes a new organization: choose another name by --realm.',
        );
      }
      return this.begin(tx, copy, realms);
    });
    try {
      const ids = new ImportedIds(realmId, source);
      const counts = await this.importInto(ids, source, copy, onProgress);
      await verify({ realmId, counts, users: ids.users, recipients: ids.recipients });
      const realm = await this.ports.uow.write(realmId, async (tx) => {
        const isAtServerAddress = takesServerAddress(stringId, await tx.realms.list(), this.server);
        const complete = { ...(await tx.realms.get(realmId)), stringId, isAtServerAddress, isDeactivated: false };
        await tx.realms.update(complete);
        await callOffDeletion(tx, realmId);
        return complete;
      });
      return { realm, ...counts, dropped: [...(source.dropped ?? []), ...dropped] };
    } catch (error) {
      await this.deletion.deleteNow(realmId);
      throw error;
    }
  }

  /** Imports objects before other objects that refer to them. */
  private async importInto(
    ids: ImportedIds,
    source: ImportSource,
    copy: RealmCopy,
    onProgress: (messages: number) => void,
  ): Promise<ImportedRealm['counts']> {
    const { ports, parts } = this;
    const { uow } = ports;
    const { realmId } = ids;
    const runs = new OrdinalRuns();
    const made = new ImportedPictures(ports);
    const pictures = new PictureImport(uow, made, ids, source);
    const topicLinks = new TopicLinks(ports.renderer, copy.linkifiers);
    const batch = await this.beginBatch(realmId, source);
    const messages = new MessageImport(uow, ids, source, runs, topicLinks, batch);
    const structure = new StructureImport(uow, ports.mint, ids, parts.realm);

    await ids.messages.reserve(uow, source);
    await structure.run(copy);
    await pictures.addCustomEmoji();
    await uow.write(realmId, (tx) => structure.rewriteDescriptions(tx, source.realm));
    if (batch) await new CreatedRecords(batch, ids, source.origins!).rememberOthers(uow);
    const messageCount = await messages.run(onProgress);
    await new PeopleImport(uow, ids, source, runs, parts.people).run();
    if (batch) await rememberMembers(uow, batch, ids, source);
    await uow.write(realmId, (tx) => messages.noteFirstMessages(tx, source.realm));
    const { files, missingFiles } = await new FileImport(uow, ports, null, ids, source).run();
    await pictures.addAvatars();
    await pictures.addRealmImages();
    if (batch) {
      const complete = {
        ...batch,
        status: 'complete',
        messages: messageCount,
        lastMessageId: messages.lastId,
      } as const;
      await uow.write(realmId, async (tx) => {
        await tx.importBatches.update(complete);
        await rememberExport(tx, batch, source.origins!);
      });
    }
    return {
      users: source.realm.users.length,
      channels: source.realm.channels.length,
      messages: messageCount,
      files,
      missingFiles,
      pictures: made.made,
      missingPictures: made.missing,
    };
  }

  /** Returns null if the source is not remembered. */
  private async beginBatch(realmId: RealmId, { origins }: ImportSource): Promise<ImportBatch | null> {
    if (!origins) return null;
    const { source } = origins;
    const startedAt = this.ports.clock.now();
    return this.ports.uow.write(realmId, (tx) => beginBatch(tx, { realmId, source, startedAt, createdRealm: true }));
  }

  private async begin(tx: Transaction, { realm }: RealmCopy, others: readonly Realm[]): Promise<RealmId> {
    const { id: old, permissions: _, ...copied } = realm;
    const isUuidTaken = others.some(({ uuid }) => uuid === realm.uuid);
    const row = {
      ...copied,
      stringId: unreachableStringId(this.ports.randomness.uuid()),
      uuid: isUuidTaken ? this.ports.randomness.uuid() : realm.uuid,
      isDeactivated: true,
      // Temporary state until the pictures are imported.
      images: mapImages(realm.images, ({ version }) => ({ isUploaded: false, version })),
      isAtServerAddress: false,
      settings: mapChannelSettings(realm.settings, () => null),
    };
    const ids = new IdMap<RealmId>('realm', 'organization');
    const realmId = await ids.add(tx, old, () => tx.realms.add(row));
    await planDeletion(tx, realmId, this.ports.clock.now() + ABANDONED_SECONDS);
    return realmId;
  }
}

const mapImages = (images: RealmImages, map: (image: RealmImage) => RealmImage): RealmImages =>
  recordOf(REALM_IMAGE_NAMES, (name) => map(images[name]));
