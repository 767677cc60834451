import {
  DeleteExport,
  ExpireExports,
  ImportRealm,
  ListExportConsents,
  ListExports,
  ReadExport,
  RealmReader,
  RequestExport,
  WriteRealmExport,
} from '@parley/domain/exports';
import { Thumbnails } from '@parley/domain/files';
import { SystemMessages } from '@parley/domain/messages';
import { PictureMaker } from '@parley/domain/pictures';
import { DeleteRealmData } from '@parley/domain/realms';
import { ContainerModule } from 'inversify';
import { provide, provideAs } from '../provide.js';
import { LISTS, PARTS, TOKENS } from '../tokens.js';

const {
  apiKeyMint,
  archiveWriter,
  blobStore,
  clock,
  eventLoop,
  exportLimits,
  imageProcessor,
  markdownRenderer,
  randomness,
  realmUrls,
  serverAddress,
  unitOfWork,
} = TOKENS;

export const exportsModule = new ContainerModule(({ bind }) => {
  provide(bind, RealmReader, unitOfWork, blobStore);
  provide(
    bind,
    ImportRealm,
    unitOfWork,
    blobStore,
    imageProcessor,
    PictureMaker,
    Thumbnails,
    markdownRenderer,
    apiKeyMint,
    serverAddress,
    DeleteRealmData,
    clock,
    randomness,
  );
  provide(bind, ListExports, unitOfWork);
  provide(bind, ListExportConsents, unitOfWork);
  provide(bind, RequestExport, unitOfWork, exportLimits, clock, randomness);
  provide(bind, ReadExport, unitOfWork, blobStore);
  provide(bind, DeleteExport, unitOfWork, blobStore, clock);
  provide(bind, ExpireExports, unitOfWork, blobStore, clock);
  provideAs(bind, LISTS.jobHandler, ExpireExports);
  provide(
    bind,
    WriteRealmExport,
    unitOfWork,
    RealmReader,
    archiveWriter,
    blobStore,
    SystemMessages,
    realmUrls,
    clock,
    PARTS.timers,
    eventLoop,
    randomness,
  );
  provideAs(bind, LISTS.jobHandler, WriteRealmExport);
});
