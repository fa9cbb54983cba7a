export { fileSource, memorySource, refuseChanged } from "./byte-source.js";
export { externalSource, isExternal } from "./external-data.js";
export { isLinked, linkedSuffix, linkMark, linkRoot } from "./link-place.js";
export { linkModelFile, writeLinked } from "./linked-model.js";
export { isDiskFull, isSystemError, outputFailed, refuseSpecialFile } from "./output-file.js";
export { readModel, type WireModel } from "./read-model.js";
export * from "./schema.js";
export { withoutDescriptions } from "./without-descriptions.js";
export { cloneMessage, modelBytes, type StagedModel, stageModel, type WriteOptions } from "./write-model.js";
