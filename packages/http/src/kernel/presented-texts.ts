import { LRUCache } from 'lru-cache';

/** Texts of one version of an entity, by the form that was asked for. */
export interface VersionTexts<Version, Form, Text> {
  readonly version: Version;
  readonly forms: ReadonlyMap<Form, Text>;
}

/** Room of an entry beside its texts. */
const ENTRY_SIZE = 200;

/**
 * LRU cache of what is presented of entities, by id. Callers compare the version of what they get with the one in their own
 * snapshot, so an entry is never invalidated, only replaced.
 */
export class PresentedTexts<Id extends {}, Version, Form = number, Text extends { readonly length: number } = string> {
  private readonly entries: LRUCache<Id, VersionTexts<Version, Form, Text>>;

  /** `maxSize`: in characters of all texts together. */
  constructor(
    maxSize: number,
    private readonly isSame: (a: Version, b: Version) => boolean = Object.is,
  ) {
    this.entries = new LRUCache({
      maxSize,
      sizeCalculation: ({ forms }) => [...forms.values()].reduce((size, { length }) => size + length, ENTRY_SIZE),
    });
  }

  get(id: Id): VersionTexts<Version, Form, Text> | undefined {
    return this.entries.get(id);
  }

  /** Drops the texts of other versions. */
  put(id: Id, version: Version, form: Form, text: Text): void {
    const existing = this.entries.get(id);
    const forms = new Map(existing && this.isSame(existing.version, version) ? existing.forms : undefined).set(
      form,
      text,
    );
    this.entries.set(id, { version, forms });
  }
}
