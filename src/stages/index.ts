export { feedsFrom, type Port, portable, portWords, toUserTensors } from "./feeds.js";
export {
  loadPipelineModule,
  ownStages,
  type PipelineModule,
  requestsOf,
  type StageContext,
  stageAliases,
  type UserStage,
} from "./pipeline-module.js";
export { stageError, stageFailed, stagesEnded } from "./stage-error.js";
