/**
 * Registering decorators needs a twentieth of class-validator: this entry takes 4 ms to load, the whole of it 80 ms.
 * Both share one metadata storage.
 */
declare module 'class-validator/cjs/register-decorator.js' {
  export { registerDecorator } from 'class-validator';
}
declare module 'class-validator/cjs/metadata/MetadataStorage.js' {
  export { getMetadataStorage } from 'class-validator';
}
/** The same holds for class-transformer: this entry takes 1 ms, the whole of it 15 ms. */
declare module 'class-transformer/cjs/decorators/transform.decorator.js' {
  export { Transform } from 'class-transformer';
}
