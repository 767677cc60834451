import { LRUCache } from 'lru-cache';

/** Texts of one version of an entity, by requested form. */
export interface VersionTexts<Version, Form, Text> {
  readonly version: Version;
  readonly forms: ReadonlyMap<Form, Text>;
}

/** Estimated size of an entry without its texts. */
const ENTRY_SIZE = 200;

/**
 * LRU cache of presented entities, by id. Callers compare an entry's version with their snapshot, so entries are only
 * replaced, never invalidated.
 */
export class PresentedTexts<Id extends {}, Version, Form = number, Text extends { readonly length: number } = string> {
  private readonly entries: LRUCache<Id, VersionTexts<Version, Form, Text>>;

  /** `maxSize`: total length of all texts in characters. */
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
