//! Where conditional writes and SERIAL reads go: those of one partition to one replica, which is the same for every
//! client. So they queue in one coordinator, and do not outbid each other's ballots.

use std::collections::HashSet;
use std::sync::Arc;

use scylla::cluster::metadata::Strategy;
use scylla::cluster::{ClusterState, NodeRef};
use scylla::policies::load_balancing::{FallbackPlan, LoadBalancingPolicy, RoutingInfo};
use scylla::routing::Shard;

type Target<'a> = (NodeRef<'a>, Option<Shard>);

/// The connected replicas in the order of the ring, those of the preferred datacenter first; then the plan of `rest`.
#[derive(Debug)]
pub struct FirstReplica {
    pub rest: Arc<dyn LoadBalancingPolicy>,
}

/// For a keyspace that is not known yet because another client has just created it. It gives the owner of the token,
/// which is the first replica unless the racks say otherwise.
static UNKNOWN_REPLICATION: Strategy = Strategy::LocalStrategy;

/// In one datacenter, or in all; connected ones only.
fn replicas<'a>(request: &'a RoutingInfo, cluster: &'a ClusterState, datacenter: Option<&'a str>) -> Vec<Target<'a>> {
    let (Some(token), Some(table)) = (request.token, request.table) else { return Vec::new() };
    let strategy = cluster.get_keyspace(table.ks_name()).map_or(&UNKNOWN_REPLICATION, |keyspace| &keyspace.strategy);
    let all = cluster.replica_locator().replicas_for_token(token, strategy, datacenter, table);
    let ordered = all.into_replicas_ordered().into_iter();
    ordered.filter(|(node, _)| node.is_connected()).map(|(node, shard)| (node, Some(shard))).collect()
}

impl LoadBalancingPolicy for FirstReplica {
    fn pick<'a>(&'a self, request: &'a RoutingInfo, cluster: &'a ClusterState) -> Option<Target<'a>> {
        let near = request.node_location_preference.datacenter();
        let first = near.and_then(|name| replicas(request, cluster, Some(name)).into_iter().next());
        first
            .or_else(|| replicas(request, cluster, None).into_iter().next())
            .or_else(|| self.rest.pick(request, cluster))
    }

    fn fallback<'a>(&'a self, request: &'a RoutingInfo, cluster: &'a ClusterState) -> FallbackPlan<'a> {
        let near = request.node_location_preference.datacenter();
        let mut plan = near.map_or_else(Vec::new, |name| replicas(request, cluster, Some(name)));
        plan.extend(replicas(request, cluster, None));
        plan.extend(self.rest.fallback(request, cluster));
        let mut seen = HashSet::new();
        plan.retain(|(node, _)| seen.insert(node.host_id));
        Box::new(plan.into_iter())
    }

    fn name(&self) -> String {
        "FirstReplica".to_owned()
    }
}
